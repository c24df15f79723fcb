import { useCallback, useEffect, useRef, useState } from 'react';
import type { SessionListItem } from '../../core/session/session-view.ts';
import { get } from './api.ts';
import { useMachines } from './use-machines.ts';
import { useRefresh } from './use-refresh.ts';
import { useWaitingCalls } from './use-waiting-calls.ts';

const MOST_SESSIONS = 500;
/** A query is sent when nobody has typed for this long. */
const TYPING_PAUSE_MS = 250;

export interface Sessions {
  readonly sessions: readonly SessionListItem[];
  readonly refresh: () => void;
}

/**
 * The sessions, or those that the query finds, the last used first. They are loaded again when in any session a turn, or
 * the wait of a call, begins or ends.
 */
export function useSessions(query: string): Sessions {
  const { turns } = useMachines();
  const waiting = useWaitingCalls();
  const wanted = useRef(query);
  const [sessions, setSessions] = useState<readonly SessionListItem[]>([]);
  const ask = useCallback(async (signal: AbortSignal) => {
    const asked = wanted.current;
    const parameters = new URLSearchParams({
      limit: String(MOST_SESSIONS),
      ...(asked !== '' && { query: asked }),
    });
    const answer = await get<{ sessions: SessionListItem[] }>(`/api/sessions?${parameters}`, signal);
    if (signal.aborted) return;
    setSessions(answer.sessions.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)));
  }, []);
  const refresh = useRefresh(ask, `${turns} ${waiting.join()}`);
  useEffect(() => {
    if (wanted.current === query) return undefined;
    wanted.current = query;
    const timer = setTimeout(refresh, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [query, refresh]);
  return { sessions, refresh };
}
