import { useCallback, useEffect, useState } from 'react';
import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import { get } from '../service/api.ts';
import { ApiError, errorText } from '../service/api-error.ts';

export interface Keys {
  /** The newest first; null until they are loaded. */
  readonly keys: readonly ApiKeyRecord[] | null;
  readonly problem: string | null;
  readonly refresh: () => void;
}

/** The API keys of the reader's tenant. */
export function useKeys(): Keys {
  const [keys, setKeys] = useState<readonly ApiKeyRecord[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const refresh = useCallback(() => {
    get<{ keys: readonly ApiKeyRecord[] }>('/api/keys').then(
      (answer) => {
        setKeys(answer.keys.toReversed());
        setProblem(null);
      },
      (error: unknown) => setProblem(problemOf(error)),
    );
  }, []);
  useEffect(refresh, [refresh]);
  return { keys, problem, refresh };
}

function problemOf(error: unknown): string {
  const hasNone = error instanceof ApiError && error.code === 'INVALID_REQUEST';
  return hasNone ? 'This service has no API keys. auth.apiKeys switches them on.' : errorText(error);
}
