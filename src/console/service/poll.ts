/** After a machine has slept, a connection may stay silent for ever. */
const MAX_READ_MS = 30_000;

/**
 * Reads at once, and again every `ms` while the page is visible. A read that takes longer than that is not overtaken by
 * another one, whose answer would begin at the same place.
 * @param read never rejects. The signal aborts when nobody needs the answer any more.
 * @returns a function that ends it.
 */
export function poll(ms: number, read: (signal: AbortSignal) => Promise<void>): () => void {
  const gone = new AbortController();
  let isReading = false;
  const next = async (): Promise<void> => {
    if (isReading || document.visibilityState !== 'visible') return;
    isReading = true;
    await read(AbortSignal.any([gone.signal, AbortSignal.timeout(MAX_READ_MS)]));
    isReading = false;
  };
  void next();
  const timer = setInterval(() => void next(), ms);
  return () => {
    clearInterval(timer);
    gone.abort();
  };
}
