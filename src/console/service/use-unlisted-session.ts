import { useCallback, useState } from 'react';
import type { SessionListItem } from '../../core/session/session-view.ts';
import { get } from './api.ts';
import { ApiError } from './api-error.ts';
import { sessionPath } from './paths.ts';
import { useRefresh } from './use-refresh.ts';

/**
 * A session that no list has.
 * @param sessionId null for none.
 * @returns null while it is not known, and for a session that has no events yet.
 */
export function useUnlistedSession(
  sessionId: string | null,
  reason: string,
): { readonly session: SessionListItem | null; readonly refresh: () => void } {
  const [found, setFound] = useState<SessionListItem | null>(null);
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const session = sessionId === null ? null : await sessionOf(sessionId, signal);
      if (!signal.aborted) setFound(session);
    },
    [sessionId],
  );
  const refresh = useRefresh(ask, reason);
  return { session: found?.sessionId === sessionId ? found : null, refresh };
}

async function sessionOf(sessionId: string, signal: AbortSignal): Promise<SessionListItem | null> {
  try {
    return (await get<{ session: SessionListItem }>(sessionPath(sessionId), signal)).session;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'SESSION_NOT_FOUND') return null;
    throw error;
  }
}
