import { useEffect, useRef } from 'react';

/** Several changes at once are one reason to ask. */
const PAUSE_MS = 200;
/** The service counts requests: however much goes on, it is not asked more often. */
const INTERVAL_MS = 3_000;

/** Asks at the beginning, and again after the reason has changed. */
export function useRefresh(ask: () => void, reason: number): void {
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
