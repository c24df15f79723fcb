/** A mark on the ruler. */
export interface Tick {
  readonly ms: number;
  readonly label: string;
}

/** Numbers at which a scale looks tidy, up to their power of ten. */
const TIDY = [1, 1.5, 2, 3, 4, 5, 7.5, 10];
const TICK_STEPS = [1, 2, 5, 10];

/** The next tidy number. A scale that follows it changes seldom while the longest turn grows. */
export function tidyLength(ms: number): number {
  return nextOf(TIDY, Math.max(1, ms));
}

/** Marks at a tidy distance of at least `leastMs`, from the last one before `fromMs` to the first one after `toMs`. */
export function ticksBetween(fromMs: number, toMs: number, leastMs: number): Tick[] {
  const step = nextOf(TICK_STEPS, Math.max(0.001, leastMs));
  const first = Math.max(0, Math.floor(fromMs / step));
  const count = Math.max(0, Math.ceil(toMs / step) - first + 1);
  return Array.from({ length: count }, (_, index) => {
    const ms = (first + index) * step;
    return { ms, label: tickLabel(ms) };
  });
}

function nextOf(steps: readonly number[], value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return (steps.find((step) => step * power >= value * 0.999_999) ?? 10) * power;
}

/** Such as `0`, `250 ms`, `1.5 s` or `2 min`. */
function tickLabel(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1_000) return `${trimmed(ms)} ms`;
  return ms < 60_000 ? `${trimmed(ms / 1_000)} s` : `${trimmed(ms / 60_000)} min`;
}

const trimmed = (value: number): string => String(Number(value.toFixed(2)));
