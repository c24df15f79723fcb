import { rounded, type Spread, spread } from './statistics.ts';
import type { Row } from './table.ts';

/** What one measurement gave, by the names of the columns. */
export type Sample = Readonly<Record<string, number>>;

/** One subject in one case: a sample for each round. */
export interface Series {
  readonly labels: Row;
  readonly subject: string;
  readonly samples: readonly Sample[];
}

/**
 * Measures the subjects in turn, A B C A B C: what disturbs the machine for a while disturbs all of them, so
 * that the ratios of one round can be trusted where the times cannot.
 */
export async function interleave<S extends { readonly name: string }>(
  rounds: number,
  labels: Row,
  subjects: readonly S[],
  measure: (subject: S, round: number) => Promise<Sample>,
): Promise<Series[]> {
  const samples = new Map<S, Sample[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, taken] of samples) taken.push(await measure(subject, round));
  }
  return [...samples].map(([{ name }, taken]) => ({ labels, subject: name, samples: taken }));
}

/** The medians of the rounds. */
export function rowOf({ labels, subject, samples }: Series): Row {
  const metrics = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  const medians = metrics.map((metric) => [metric, rounded(spread(valuesOf(samples, metric)).median)]);
  return { ...labels, subject, ...Object.fromEntries(medians) };
}

/** Round by round, the value of one over that of the other. */
export function ratio(of: Series, to: Series, metric: string): Spread {
  return compared(of, to, metric, (a, b) => a / b);
}

/** Round by round, how much more the one has than the other. */
export function excess(of: Series, over: Series, metric: string): Spread {
  return compared(of, over, metric, (a, b) => a - b);
}

export function spreadOf({ samples }: Series, metric: string): Spread {
  return spread(valuesOf(samples, metric));
}

/** @throws when there is no such series: a misspelt name would otherwise be a row of blanks. */
export function seriesOf(all: readonly Series[], subject: string, labels: Row = {}): Series {
  const found = all.find(
    (series) =>
      series.subject === subject &&
      Object.entries(labels).every(([label, value]) => series.labels[label] === value),
  );
  if (!found) throw new Error(`nothing was measured of ${subject} with ${JSON.stringify(labels)}`);
  return found;
}

function compared(a: Series, b: Series, metric: string, by: (a: number, b: number) => number): Spread {
  const others = valuesOf(b.samples, metric);
  return spread(valuesOf(a.samples, metric).map((value, round) => by(value, others[round] ?? Number.NaN)));
}

function valuesOf(samples: readonly Sample[], metric: string): number[] {
  return samples.map((sample) => sample[metric] ?? Number.NaN);
}
