/** A person who waits longer than this begins to wonder. */
const SLOW_MS = 1_000;

/** Calls `tell` once if the work takes longer than `SLOW_MS`. @returns a promise of the work's result. */
export function whenSlow<T>(work: Promise<T>, tell: () => void): Promise<T> {
  const timer = setTimeout(tell, SLOW_MS);
  timer.unref();
  return work.finally(() => clearTimeout(timer));
}
