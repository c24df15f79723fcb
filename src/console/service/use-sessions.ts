import { useCallback, useEffect, useRef, useState } from 'react';
import { get } from './api.ts';
import { type SessionPages, sessionPages } from './session-pages.ts';
import { type ShownSessions, shownSessions } from './shown-sessions.ts';
import { useMachines } from './use-machines.ts';
import { useRefresh } from './use-refresh.ts';
import { useUnlistedSession } from './use-unlisted-session.ts';
import { useWaitingCalls } from './use-waiting-calls.ts';

/** A query is sent when nobody has typed for this long. */
const TYPING_PAUSE_MS = 250;
const NONE: SessionPages = { sessions: [], isWhole: true, requests: 1 };

export interface Sessions extends ShownSessions {
  readonly refresh: () => void;
}

/**
 * The sessions, or those that the query finds, the last used first. They are loaded again when in any session a turn, or
 * the wait of a call, begins or ends, and when there is a stream again that tells of it.
 * @param openId the session that is open. It is among all sessions, however many there are.
 */
export function useSessions(query: string, openId: string): Sessions {
  const { turns } = useMachines();
  const waiting = useWaitingCalls();
  const wanted = useRef(query);
  const [pages, setPages] = useState(NONE);
  const ask = useCallback(async (signal: AbortSignal) => {
    const loaded = await sessionPages(wanted.current, (path) => get(path, signal));
    if (!signal.aborted) setPages(loaded);
  }, []);
  const reason = `${turns} ${waiting.join()}`;
  const refreshPages = useRefresh(ask, reason, pages.requests);
  // Many pages are loaded less often, so that a session that has just begun may not be there yet.
  const isMissed =
    query === '' && pages.requests > 1 && !pages.sessions.some(({ sessionId }) => sessionId === openId);
  const unlisted = useUnlistedSession(isMissed ? openId : null, reason);
  const refreshUnlisted = unlisted.refresh;
  const refresh = useCallback(() => {
    refreshPages();
    refreshUnlisted();
  }, [refreshPages, refreshUnlisted]);
  useEffect(() => {
    if (wanted.current === query) return undefined;
    wanted.current = query;
    const timer = setTimeout(refreshPages, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [query, refreshPages]);
  return { ...shownSessions(pages, unlisted.session, openId), refresh };
}
