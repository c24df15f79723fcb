/** Waits for the work until the time is up or the signal aborts. It does not stop the work itself. */
export async function within<T>(work: Promise<T>, limitMs: number, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const expire = () => stopped.reject(new Error(`the server did not answer within ${limitMs} ms`));
  const abort = () => stopped.reject(new Error('connecting was cancelled'));
  const timer = setTimeout(expire, limitMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
