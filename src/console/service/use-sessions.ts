import { useCallback, useEffect, useState } from 'react';
import type { SessionListItem } from '../../contract/session-view.ts';
import { get } from './api.ts';

const REFRESH_MS = 10_000;
const MOST_SESSIONS = 500;

export interface Sessions {
  readonly sessions: readonly SessionListItem[];
  readonly refresh: () => void;
}

/** The sessions there are, the one used last first. Asked for again from time to time, while the page is looked at. */
export function useSessions(): Sessions {
  const [sessions, setSessions] = useState<readonly SessionListItem[]>([]);
  const refresh = useCallback(() => {
    get<{ sessions: SessionListItem[] }>(`/api/sessions?limit=${MOST_SESSIONS}`).then(
      (answer) => setSessions(answer.sessions.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))),
      () => undefined, // The next refresh tries again; the open session says that the service is away.
    );
  }, []);
  useEffect(() => {
    refresh();
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  return { sessions, refresh };
}
