import { isByTheClock, LOAD_CPU } from './metric.ts';
import { rounded, type Spread, spread } from './statistics.ts';
import type { Row } from './table.ts';

/** The result of one measurement: a value for each column. */
export type Sample = Readonly<Record<string, number>>;

/** The samples of one subject in one case, one for each round. */
export interface Series {
  readonly labels: Row;
  readonly subject: string;
  /** The commit of the subject's sources, if it is not this checkout. */
  readonly ref?: string | undefined;
  readonly samples: readonly Sample[];
}

/**
 * Measures the subjects in turn, A B C A B C. A disturbance of the machine then affects all subjects of a round, so the
 * ratios within a round can be trusted even if the times cannot.
 */
export async function interleave<S extends { readonly name: string; readonly ref?: string | undefined }>(
  rounds: number,
  labels: Row,
  subjects: readonly S[],
  measure: (subject: S, round: number) => Promise<Sample>,
): Promise<Series[]> {
  const samples = new Map<S, Sample[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, taken] of samples) taken.push(await measure(subject, round));
  }
  return [...samples].map(([{ name, ref }, taken]) => ({ labels, subject: name, ref, samples: taken }));
}

/** A value of one series, or of two compared with each other. */
export interface Figure extends Spread {
  /** Whether the load generator limited it. */
  readonly isLoadBound?: boolean;
}

export const LOAD_GENERATOR = 'load generator';
/** Of one core. */
const SATURATED_PERCENT = 90;

/** A row of the table, with the median of each metric over the rounds. */
export function rowOf(series: Series): Row {
  const { labels, subject } = series;
  const medians = Object.entries(medianOf(series)).map(([metric, value]) => [metric, rounded(value)]);
  const limit = isLoadBound(series) ? { limit: LOAD_GENERATOR } : {};
  return { ...labels, subject, ...Object.fromEntries(medians), ...limit };
}

/** The median of each metric over the samples. */
export function medianOf({ samples }: Pick<Series, 'samples'>): Sample {
  const metrics = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  return Object.fromEntries(metrics.map((metric) => [metric, spread(valuesOf(samples, metric)).median]));
}

/** Whether the load generator was the limit, so that the rate says little about the subject. */
export function isLoadBound({ samples }: Series): boolean {
  return spread(valuesOf(samples, LOAD_CPU)).median >= SATURATED_PERCENT;
}

/** The metric of one series divided by that of the other, round by round. */
export function ratio(of: Series, to: Series, metric: string): Figure {
  return compared(of, to, metric, (a, b) => a / b);
}

/** The metric of one series minus that of the other, round by round. */
export function excess(of: Series, over: Series, metric: string): Figure {
  return compared(of, over, metric, (a, b) => a - b);
}

export function spreadOf(of: Series, metric: string): Figure {
  return figure(valuesOf(of.samples, metric), metric, [of]);
}

/** @throws Error when there is no such series, because a misspelt name would otherwise give empty cells. */
export function seriesOf(all: readonly Series[], subject: string, labels: Row = {}): Series {
  const found = all.find(
    (series) =>
      series.subject === subject &&
      Object.entries(labels).every(([label, value]) => series.labels[label] === value),
  );
  if (!found) throw new Error(`nothing was measured of ${subject} with ${JSON.stringify(labels)}`);
  return found;
}

function compared(a: Series, b: Series, metric: string, by: (a: number, b: number) => number): Figure {
  const others = valuesOf(b.samples, metric);
  const values = valuesOf(a.samples, metric).map((value, round) => by(value, others[round] ?? Number.NaN));
  return figure(values, metric, [a, b]);
}

function figure(values: readonly number[], metric: string, of: readonly Series[]): Figure {
  const isBound = isByTheClock(metric) && of.some(isLoadBound);
  return { ...spread(values), ...(isBound && { isLoadBound: true }) };
}

function valuesOf(samples: readonly Sample[], metric: string): number[] {
  return samples.map((sample) => sample[metric] ?? Number.NaN);
}
