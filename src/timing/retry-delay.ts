const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

/**
 * Milliseconds to wait after so many failures in a row: 1 s, 2 s, 4 s … 30 s. Jitter shortens each delay by up to
 * half, so that the clients of a failed server do not all come back at the same moment.
 *
 * @param random gives numbers from 0 up to 1.
 */
export function retryDelayMs(failures: number, random: () => number = Math.random): number {
  const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1));
  return delayMs * (0.5 + random() / 2);
}
