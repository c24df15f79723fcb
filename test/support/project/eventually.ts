import { setTimeout as delay } from 'node:timers/promises';

/** Reads again and again until the value is as wanted. The test's own time-out is the bound. */
export async function eventually<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    await delay(5);
  }
}
