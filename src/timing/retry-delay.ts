export interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
  /** Share of each delay that is random, from 0 to 1, so that the clients of a failed server do not return at once. */
  readonly jitter: number;
}

const DEFAULT: BackOff = { firstMs: 1_000, mostMs: 30_000, jitter: 0.5 };

/**
 * Exponential back-off with jitter. By default 1 s, 2 s, 4 s … 30 s, each between half and the whole of it.
 *
 * @param failures in a row, 1 after the first.
 * @param random from 0 to 1.
 */
export function retryDelayMs(
  failures: number,
  random: () => number = Math.random,
  { firstMs, mostMs, jitter }: BackOff = DEFAULT,
): number {
  const wholeMs = Math.min(mostMs, firstMs * 2 ** Math.max(0, failures - 1));
  return wholeMs * (1 - jitter + jitter * random());
}
