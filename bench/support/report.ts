import { type Figure, LOAD_GENERATOR, type Series } from './rounds.ts';
import type { Scope } from './scope.ts';
import { rounded } from './statistics.ts';
import type { Plot } from './svg-plot.ts';
import type { Row } from './table.ts';

type Wanted = { readonly atLeast: number } | { readonly atMost: number };

/** A goal and the measured value. A missed target fails nothing. */
export interface Target {
  readonly what: string;
  /** Left out where the figure is only reported. */
  readonly wanted?: Wanted | undefined;
  readonly measured: Figure;
}

export interface Report {
  /** A row of the table each. */
  readonly series: readonly Series[];
  /** Asked for after a whole measurement only: a smoke test and a comparison of versions have no targets. */
  readonly targets?: () => readonly Target[];
  readonly plots?: readonly Plot[];
}

/** One bench. Each file in bench/ that bench/run.ts imports exports a bench and answers one question. */
export interface Bench {
  readonly question: string;
  /** Why two versions of the service cannot be compared by it; absent if they can. */
  readonly notComparable?: string;
  run(scope: Scope): Promise<Report>;
}

export function targetRow({ what, wanted, measured }: Target): Row {
  const { min, median, max } = measured;
  return {
    target: what,
    wanted: wantedText(wanted),
    min: rounded(min),
    median: rounded(median),
    max: rounded(max),
    met: verdictOn({ wanted, measured }),
  };
}

export function wantedText(wanted: Wanted | undefined): string {
  if (wanted === undefined) return '';
  return 'atLeast' in wanted ? `≥ ${wanted.atLeast}` : `≤ ${wanted.atMost}`;
}

/** `load generator`: a faster one could have given another value. Empty where the figure is only reported. */
export type Verdict = '' | 'yes' | 'no' | typeof LOAD_GENERATOR;

export function verdictOn({ wanted, measured }: Pick<Target, 'wanted' | 'measured'>): Verdict {
  if (wanted === undefined) return '';
  if (measured.isLoadBound) return LOAD_GENERATOR;
  return isMet(measured.median, wanted) ? 'yes' : 'no';
}

function isMet(value: number, wanted: Wanted): boolean {
  return 'atLeast' in wanted ? value >= wanted.atLeast : value <= wanted.atMost;
}
