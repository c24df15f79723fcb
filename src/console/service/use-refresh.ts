import { useEffect, useRef, useState } from 'react';
import { type Ask, Refresher } from './refresher.ts';

/**
 * Calls `ask` at first, again after each change of `reason`, and again after a failure that may pass.
 * @param requests how many requests `ask` makes.
 * @returns a function that asks at once.
 */
export function useRefresh(ask: Ask, reason: number | string, requests = 1): () => void {
  const latest = useRef({ ask, requests });
  latest.current = { ask, requests };
  const [refresher] = useState(
    () =>
      new Refresher(
        (signal) => latest.current.ask(signal),
        () => latest.current.requests,
      ),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the reason is why to ask again
  useEffect(() => refresher.want(), [refresher, ask, reason]);
  useEffect(() => () => refresher.close(), [refresher]);
  return refresher.now;
}
