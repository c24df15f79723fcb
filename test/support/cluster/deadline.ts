import { setTimeout as delay } from 'node:timers/promises';

/** Rejects with what was waited for when it takes longer than that. */
export async function withinMs<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(ms, undefined, { signal: over.signal }).then(() => {
    throw new Error(`waited for ${ms} ms, in vain: ${what}`);
  });
  // When the promise is faster, the delay is aborted.
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}

/** Reads again and again until the value is as wanted. Rejects with the last value after so many milliseconds. */
export async function awaited<T>(
  ms: number,
  what: string,
  read: () => Promise<T>,
  isWanted: (value: T) => boolean,
): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    if (performance.now() >= until)
      throw new Error(`waited for ${ms} ms, in vain: ${what}; it is ${JSON.stringify(value)}`);
    await delay(20);
  }
}
