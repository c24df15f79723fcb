import { useEffect, useRef } from 'react';

/** Changes within this time cause one request. */
const PAUSE_MS = 200;
/** The least time between two requests, because the service limits their rate. */
const INTERVAL_MS = 3_000;

/** Calls `ask` at first, and again after each change of `reason`. */
export function useRefresh(ask: () => void, reason: number | string): void {
  const lastAsked = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the reason is why to ask again
  useEffect(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = null;
        lastAsked.current = Date.now();
        ask();
      },
      Math.max(PAUSE_MS, lastAsked.current + INTERVAL_MS - Date.now()),
    );
  }, [ask, reason]);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
}
