import { type Target, verdictOn, wantedText } from './report.ts';
import { rounded, type Spread, spread } from './statistics.ts';
import { cellText } from './table.ts';

/** The targets of one run of a bench. */
export interface BenchTargets {
  readonly bench: string;
  readonly targets: readonly Target[];
}

/** A target over several runs. */
export interface TargetOfRuns {
  readonly bench: string;
  readonly what: string;
  readonly wanted: string;
  /** The median of the runs' medians, and the least and the most of all rounds of all runs. */
  readonly measured: Spread;
  /** `met`, `not met`, `load generator` or nothing, by the median. */
  readonly verdict: string;
}

/**
 * Each target over the runs, in the order of the first run that has it.
 * @param runs Of each run, its benches. A run may have ended before its last bench.
 */
export function targetsOfRuns(runs: readonly (readonly BenchTargets[])[]): TargetOfRuns[] {
  const found = new Map<string, { bench: string; targets: Target[] }>();
  for (const { bench, targets } of runs.flat()) {
    for (const target of targets) {
      const key = JSON.stringify([bench, target.what]);
      found.set(key, { bench, targets: [...(found.get(key)?.targets ?? []), target] });
    }
  }
  return [...found.values()].flatMap(({ bench, targets }) => ofRuns(bench, targets) ?? []);
}

function ofRuns(bench: string, targets: readonly Target[]): TargetOfRuns | null {
  const [first] = targets;
  if (!first) return null;
  const { what, wanted } = first;
  const figures = targets.map(({ measured }) => measured);
  const measured = {
    min: Math.min(...figures.map(({ min }) => min)),
    median: spread(figures.map(({ median }) => median)).median,
    max: Math.max(...figures.map(({ max }) => max)),
  };
  const isLoadBound = figures.filter((figure) => figure.isLoadBound).length * 2 > figures.length;
  const verdict = verdictOn({ wanted, measured: { ...measured, isLoadBound } });
  return { bench, what, wanted: wantedText(wanted), measured, verdict: words[verdict] };
}

const words = { yes: 'met', no: 'not met', 'load generator': 'load generator', '': '' };

/** The table as Markdown, as docs/performance.md refers to it. */
export function targetsMarkdown(rows: readonly TargetOfRuns[], runs: number): string {
  const lines = rows.map(({ bench, what, wanted, measured: { min, median, max }, verdict }) =>
    [bench, what, wanted, ...[min, median, max].map((value) => cellText(rounded(value))), verdict].join(
      ' | ',
    ),
  );
  return `# The targets, in ${runs === 1 ? 'one run' : `${runs} runs`}

\`npm run bench -- --runs ${runs}\`. Each run has medians of its rounds: here is the median of those, and the least and
the most of all rounds. \`load generator\`: in most runs the load generator was the limit, so the target has no verdict.

| bench | what | target | min | median | max | |
|---|---|---|---|---|---|---|
${lines.map((line) => `| ${line} |\n`).join('')}`;
}
