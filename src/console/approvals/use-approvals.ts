import { useCallback, useState } from 'react';
import type { WaitingApproval } from '../../core/session/session-view.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { useRefresh } from '../service/use-refresh.ts';
import { useWaitingCalls } from '../service/use-waiting-calls.ts';

interface Inbox {
  /** Oldest first. Null until they are loaded. */
  readonly approvals: readonly WaitingApproval[] | null;
  /** How many calls wait, also beyond those in `approvals`. */
  readonly count: number;
  readonly problem: string | null;
}

const EMPTY: Inbox = { approvals: null, count: 0, problem: null };
const MOST_APPROVALS = 100;

/** The tool calls of all sessions that wait for approval. They are loaded again when a call begins or ends to wait. */
export function useApprovals(): Inbox & { readonly refresh: () => void } {
  const waiting = useWaitingCalls();
  const [inbox, setInbox] = useState(EMPTY);
  const refresh = useCallback(() => {
    get<{ approvals: WaitingApproval[]; count: number }>(`/api/approvals?limit=${MOST_APPROVALS}`).then(
      ({ approvals, count }) => setInbox({ approvals, count, problem: null }),
      (error: unknown) => setInbox((before) => ({ ...before, problem: errorText(error) })),
    );
  }, []);
  useRefresh(refresh, waiting.join());
  return { ...inbox, refresh };
}
