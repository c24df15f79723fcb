/** Longer than this, and a person who waits wonders. */
const SLOW_MS = 1_000;

/** Tells once what goes on when it takes long. Hands back the work itself. */
export function whenSlow<T>(work: Promise<T>, tell: () => void, slowMs = SLOW_MS): Promise<T> {
  const timer = setTimeout(tell, slowMs);
  timer.unref();
  return work.finally(() => clearTimeout(timer));
}
