import { isByTheClock, kindOf } from './metric.ts';
import { pairedRatio } from './paired-ratio.ts';
import { isLoadBound, LOAD_GENERATOR, type Series } from './rounds.ts';
import { rounded, spread } from './statistics.ts';
import type { Cell, Row } from './table.ts';

export const NO_DIFFERENCE = 'no difference beyond the noise';

/** One metric of one row in two versions, with the values of each round. */
interface Pairing {
  readonly labels: Row;
  readonly subject: string;
  readonly metric: string;
  readonly here: readonly number[];
  readonly there: readonly number[];
  readonly isLoadBound: boolean;
}

/** Of the high percentiles a round has too few values. The load is not the service's. */
const NOT_COMPARED = /p9[59]|^load CPU %$|^longest pause/;
/** Of the whole table. With 95 % for each of 30 rows, most tables of two equal versions would show a difference. */
const CONFIDENCE = 0.95;

/**
 * One row for each metric: what it was in `ref` and in this checkout, how many times as much that is, and whether this
 * is more than the noise between the rounds. The intervals of all rows hold together with 95 %.
 * @param series Of both versions, with as many samples.
 */
export function differences(series: readonly Series[], ref: string): Row[] {
  const pairings = series
    .filter((one) => one.ref === undefined)
    .flatMap((one) => pairingsOf(one, series, ref));
  const confidence = 1 - (1 - CONFIDENCE) / pairings.length;
  return pairings.map((pairing) => rowOf(pairing, ref, confidence));
}

function pairingsOf(here: Series, series: readonly Series[], ref: string): Pairing[] {
  const key = keyOf(here);
  const there = series.find((one) => one.ref === ref && keyOf(one) === key);
  if (!there) throw new Error(`${key} was measured of this checkout, but not of ${ref}`);
  const { labels, subject, samples } = here;
  const metrics = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  return metrics
    .filter((metric) => !NOT_COMPARED.test(metric))
    .map((metric) => ({
      labels,
      subject,
      metric,
      here: samples.map((sample) => sample[metric] ?? Number.NaN),
      there: there.samples.map((sample) => sample[metric] ?? Number.NaN),
      isLoadBound: isLoadBound(here) || isLoadBound(there),
    }));
}

function rowOf(pairing: Pairing, ref: string, confidence: number): Row {
  const { labels, subject, metric, here, there } = pairing;
  const row = {
    ...labels,
    subject,
    metric,
    [ref]: rounded(spread(there).median),
    'this checkout': rounded(spread(here).median),
  };
  const pairs = here.map((value, round) => [value, there[round] ?? Number.NaN] as const);
  // Sizes may be measured as a growth, which can be none. CPU times are missing on systems other than Linux.
  if (pairs.length < 2 || !pairs.flat().every((value) => value > 0))
    return { ...row, verdict: 'not comparable' };
  const { median, low, high } = pairedRatio(pairs, confidence);
  return {
    ...row,
    ratio: rounded(median),
    from: bound(low),
    to: bound(high),
    verdict: verdictOf(pairing, low, high),
  };
}

function verdictOf({ metric, isLoadBound }: Pairing, low: number, high: number): string {
  if (isLoadBound && isByTheClock(metric)) return LOAD_GENERATOR;
  const { more, less } = words[kindOf(metric)];
  if (low > 1) return more;
  return high < 1 ? less : NO_DIFFERENCE;
}

/** Of few rounds the interval can be without an end for practical purposes. */
function bound(value: number): Cell {
  if (value > 100) return '> 100';
  return value < 0.01 ? '< 0.01' : rounded(value);
}

const words = {
  rate: { more: 'faster', less: 'slower' },
  cost: { more: 'slower', less: 'faster' },
  size: { more: 'larger', less: 'smaller' },
};

function keyOf({ labels, subject }: Series): string {
  return JSON.stringify({ ...labels, subject });
}
