import { useCallback, useState } from 'react';
import { get } from './api.ts';
import { useRefresh } from './use-refresh.ts';

export interface Loaded<T> {
  /** The last answer; null before the first. */
  readonly answer: T | null;
  /** Why the last request has failed; null if it has not. */
  readonly error: unknown;
  readonly refresh: () => void;
}

/**
 * What a GET answers. It is asked for again when the reason changes, and after a failure that may pass.
 * @param path null: nothing is asked for.
 */
export function useLoaded<T>(path: string | null, reason: number | string = ''): Loaded<T> {
  const [answer, setAnswer] = useState<T | null>(null);
  const [error, setError] = useState<unknown>(null);
  const ask = useCallback(
    async (signal: AbortSignal) => {
      if (path === null) return;
      try {
        const loaded = await get<T>(path, signal);
        if (signal.aborted) return;
        setAnswer(loaded);
        setError(null);
      } catch (cause) {
        if (!signal.aborted) setError(cause);
        throw cause;
      }
    },
    [path],
  );
  const refresh = useRefresh(ask, reason);
  return { answer, error, refresh };
}
