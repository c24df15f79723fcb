/** A value over several rounds. `min` and `max` say how far to trust the median. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The percentile by nearest rank. `share` is from 0 to 1. NaN when there are no values. */
export function percentile(ascending: readonly number[], share: number): number {
  const rank = Math.ceil(ascending.length * share);
  return ascending[Math.max(0, rank - 1)] ?? Number.NaN;
}

export function spread(values: readonly number[]): Spread {
  const ascending = values.toSorted((a, b) => a - b);
  const middle = Math.floor(ascending.length / 2);
  const upper = ascending[middle] ?? Number.NaN;
  const lower = ascending.length % 2 === 0 ? (ascending[middle - 1] ?? Number.NaN) : upper;
  return {
    min: ascending[0] ?? Number.NaN,
    median: (lower + upper) / 2,
    max: ascending.at(-1) ?? Number.NaN,
  };
}

/** Rounds to three digits, or to a whole number from 1,000 on. More digits would only be noise. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}
