import type { Bench } from './report.ts';
import { medianOf, type Series } from './rounds.ts';
import { Scope, type ScopeOptions } from './scope.ts';
import type { Version } from './version.ts';

export interface Comparison {
  /** Which of the two is measured first changes with each round: A B, B A, A B … */
  readonly versions: readonly [Version, Version];
  readonly rounds: number;
}

/**
 * Runs a bench once a round, with new processes of both versions each time: two processes of the same sources can
 * differ for as long as they live. @returns the series with a sample for each round: the median of those that the bench
 * took in it.
 */
export async function compare(
  bench: Bench,
  { versions, rounds }: Comparison,
  options: Omit<ScopeOptions, 'versions'>,
): Promise<Series[]> {
  const all = new Map<string, Series>();
  for (let round = 0; round < rounds; round += 1) {
    const scope = new Scope({ ...options, versions: round % 2 === 0 ? versions : versions.toReversed() });
    try {
      for (const series of (await bench.run(scope)).series) {
        const key = JSON.stringify([series.labels, series.subject, series.ref]);
        all.set(key, { ...series, samples: [...(all.get(key)?.samples ?? []), medianOf(series)] });
      }
    } finally {
      await scope.close();
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return [...all.values()];
}
