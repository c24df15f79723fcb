const FIRST_MS = 250;
const MAX_MS = 10_000;

/**
 * Milliseconds to wait before the next attempt. The delay doubles with each failure, up to 10 s. Half of it is random,
 * so that the clients of a restarted service do not all reconnect at once.
 * @param failures Attempts that failed in a row, 0 for the first delay.
 * @param random A number from 0 to 1.
 */
export function reconnectDelayMs(failures: number, random: number): number {
  const delayMs = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return delayMs / 2 + (delayMs / 2) * random;
}
