/**
 * Settles as `work` does, or resolves with `fallback` after `limitMs` milliseconds, whichever comes first.
 * Rejects with the signal's reason if `signal` aborts before that. Nothing here stops the work itself.
 */
export async function within<T, F>(
  limitMs: number,
  work: Promise<T>,
  fallback: F,
  signal?: AbortSignal,
): Promise<T | F> {
  const interruption = Promise.withResolvers<F>();
  const abort = (): void => interruption.reject(signal?.reason);
  const timer = setTimeout(() => interruption.resolve(fallback), limitMs);
  signal?.addEventListener('abort', abort, { once: true });
  // A signal that has aborted already fires no event.
  if (signal?.aborted) abort();
  try {
    return await Promise.race([work, interruption.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Whether `work` resolves or rejects within `limitMs` milliseconds. Never rejects. */
export function settlesWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return within(limitMs, settled, false);
}
