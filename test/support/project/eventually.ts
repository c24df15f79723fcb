import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 500;

/**
 * Reads again and again until the value is as wanted. The test's own time-out is the bound.
 * The pauses grow, so that a long wait does not use up the requests that the service allows a minute.
 */
export async function eventually<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, MAX_PAUSE_MS)) {
    const value = await read();
    if (isWanted(value)) return value;
    await delay(pause);
  }
}
