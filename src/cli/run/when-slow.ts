/** A person who waits longer than this begins to wonder. */
const SLOW_MS = 1_000;

/** Calls `tell` once if the work takes longer than `slowMs`. @returns a promise of the work's result. */
export function whenSlow<T>(work: Promise<T>, tell: () => void, slowMs = SLOW_MS): Promise<T> {
  const timer = setTimeout(tell, slowMs);
  timer.unref();
  return work.finally(() => clearTimeout(timer));
}
