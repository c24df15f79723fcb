import { useMemo } from 'react';
import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import { ApiError, errorText } from '../service/api-error.ts';
import { useLoaded } from '../service/use-loaded.ts';

export interface Keys {
  /** The newest first; null until they are loaded. */
  readonly keys: readonly ApiKeyRecord[] | null;
  readonly problem: string | null;
  readonly refresh: () => void;
}

/** The API keys of the reader's tenant. */
export function useKeys(): Keys {
  const { answer, error, refresh } = useLoaded<{ keys: readonly ApiKeyRecord[] }>('/api/keys');
  const keys = useMemo(() => answer?.keys.toReversed() ?? null, [answer]);
  return { keys, problem: error === null ? null : problemOf(error), refresh };
}

function problemOf(error: unknown): string {
  const hasNone = error instanceof ApiError && error.code === 'INVALID_REQUEST';
  return hasNone ? 'This service has no API keys. auth.apiKeys switches them on.' : errorText(error);
}
