const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/**
 * How long to wait before trying again, doubled each time; half of it by chance, so that the clients of a
 * service that comes back do not all come at once.
 * @param failures so far in a row, 0 for the first. @param random from 0 to 1.
 */
export function reconnectDelayMs(failures: number, random: number): number {
  const delayMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return delayMs / 2 + (delayMs / 2) * random;
}
