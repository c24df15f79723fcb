import { rowOf, type Series } from './rounds.ts';
import type { Line } from './svg-plot.ts';

/** One line of a plot for each subject: the metric as a function of the label. */
export function linesOver(
  all: readonly Series[],
  subjects: readonly string[],
  label: string,
  metric: string,
): Line[] {
  return subjects.map((name) => ({
    name,
    points: all
      .filter(({ subject }) => subject === name)
      .map(rowOf)
      .map((row) => [Number(row[label]), Number(row[metric])] as const),
  }));
}
