import style from './health.module.css';
import type { Reading } from './samples.ts';

interface ChartProps {
  readonly title: string;
  /** Oldest first, in milliseconds since the epoch. */
  readonly times: readonly number[];
  /** One for each time; null leaves a gap. */
  readonly values: readonly Reading[];
  readonly format: (value: number) => string;
  /** Whether a value holds for the whole time since the one before, as a rate does. */
  readonly isOfInterval: boolean;
}

const WIDTH = 240;
const HEIGHT = 56;
/** The line stays this far from the edges. */
const MARGIN = 3;

/** A small line chart over time, with the newest value in figures. */
export function Chart({ title, times, values, format, isOfInterval }: ChartProps) {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  const top = Math.max(...known, 0) || 1;
  const now = last === undefined ? '–' : format(last);
  const peak = known.length === 0 ? 'nothing yet' : `peak ${format(Math.max(...known))}`;
  return (
    <figure className={style.chart}>
      <figcaption>
        <span className={style.title}>{title}</span>
        <strong>{now}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${now}, ${peak}`}
      >
        {linesOf(pointsOf(times, values, isOfInterval), top).map((points) => (
          <polyline key={points} points={points} />
        ))}
      </svg>
      <span className={style.peak}>{peak}</span>
    </figure>
  );
}

interface Point {
  /** From 0 at the oldest time to 1 at the newest. */
  readonly at: number;
  readonly value: Reading;
}

function pointsOf(times: readonly number[], values: readonly Reading[], isOfInterval: boolean): Point[] {
  const begin = times[0] ?? 0;
  const length = (times.at(-1) ?? 0) - begin || 1;
  const at = (index: number): number => ((times[index] ?? begin) - begin) / length;
  return values.flatMap((value, index) =>
    isOfInterval
      ? [
          { at: at(Math.max(0, index - 1)), value },
          { at: at(index), value },
        ]
      : [{ at: at(index), value }],
  );
}

/** One polyline for each run of values without a gap. */
function linesOf(points: readonly Point[], top: number): string[] {
  const lines: string[][] = [[]];
  for (const { at, value } of points) {
    if (value === null) lines.push([]);
    else {
      const y = HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN);
      lines.at(-1)?.push(`${(at * WIDTH).toFixed(1)},${y.toFixed(1)}`);
    }
  }
  return lines.filter((line) => line.length > 1).map((line) => line.join(' '));
}
