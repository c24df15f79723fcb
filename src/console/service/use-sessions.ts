import { useCallback, useState } from 'react';
import type { SessionListItem } from '../../core/session/session-view.ts';
import { get } from './api.ts';
import { useMachines } from './use-machines.ts';
import { useRefresh } from './use-refresh.ts';
import { useWaitingCalls } from './use-waiting-calls.ts';

const MOST_SESSIONS = 500;

export interface Sessions {
  readonly sessions: readonly SessionListItem[];
  readonly refresh: () => void;
}

/** The sessions, the last used first. They are loaded again when in any session a turn, or the wait of a call, begins or ends. */
export function useSessions(): Sessions {
  const { turns } = useMachines();
  const waiting = useWaitingCalls();
  const [sessions, setSessions] = useState<readonly SessionListItem[]>([]);
  const refresh = useCallback(() => {
    get<{ sessions: SessionListItem[] }>(`/api/sessions?limit=${MOST_SESSIONS}`).then(
      (answer) => setSessions(answer.sessions.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))),
      () => undefined, // The next turn tries again. The open session shows that the service is unreachable.
    );
  }, []);
  useRefresh(refresh, `${turns} ${waiting.join()}`);
  return { sessions, refresh };
}
