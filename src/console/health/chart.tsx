import style from './health.module.css';
import type { Reading } from './samples.ts';

interface ChartProps {
  readonly title: string;
  /** Oldest first; null leaves a gap. */
  readonly values: readonly Reading[];
  readonly format: (value: number) => string;
}

const WIDTH = 240;
const HEIGHT = 56;

/** A small line chart of the last minutes, with the current value in figures. */
export function Chart({ title, values, format }: ChartProps) {
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
        {linesOf(values, top).map((points) => (
          <polyline key={points} points={points} />
        ))}
      </svg>
      <span className={style.peak}>{peak}</span>
    </figure>
  );
}

/** One polyline for each run of values without a gap. The newest value is at the right edge. */
function linesOf(values: readonly Reading[], top: number): string[] {
  const step = WIDTH / Math.max(1, values.length - 1);
  const lines: string[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) lines.push([]);
    else
      lines
        .at(-1)
        ?.push(`${(index * step).toFixed(1)},${(HEIGHT - 3 - (value / top) * (HEIGHT - 6)).toFixed(1)}`);
  }
  return lines.filter((points) => points.length > 0).map((points) => points.join(' '));
}
