const FIRST_MS = 1_000;
const MOST_MS = 30_000;

/**
 * Exponential back-off with jitter: 1 s, 2 s, 4 s … 30 s, each between half and the whole of it, so that
 * many clients of one failed server do not come back at the same moment.
 */
export function retryDelayMs(failures: number, random: () => number = Math.random): number {
  const whole = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return whole * (0.5 + random() / 2);
}
