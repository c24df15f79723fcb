import type { WaitingApproval } from '../../core/session/session-view.ts';
import { errorText } from '../service/api-error.ts';
import { useLoaded } from '../service/use-loaded.ts';
import { useWaitingCalls } from '../service/use-waiting-calls.ts';

interface Inbox {
  /** Oldest first. Null until they are loaded. */
  readonly approvals: readonly WaitingApproval[] | null;
  /** How many calls wait, also beyond those in `approvals`. */
  readonly count: number;
  readonly problem: string | null;
  readonly refresh: () => void;
}

const MAX_APPROVALS = 100;
const PATH = `/api/approvals?limit=${MAX_APPROVALS}`;

/** The tool calls of all sessions that wait for approval. They are loaded again when a call begins or ends to wait. */
export function useApprovals(): Inbox {
  const waiting = useWaitingCalls();
  const { answer, error, refresh } = useLoaded<{ approvals: WaitingApproval[]; count: number }>(
    PATH,
    waiting.join(),
  );
  return {
    approvals: answer?.approvals ?? null,
    count: answer?.count ?? 0,
    problem: error === null ? null : errorText(error),
    refresh,
  };
}
