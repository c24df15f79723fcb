import type { PendingApproval } from '../../core/session/session-view.ts';
import type { Queued } from '../../wire/queued.ts';
import { howToDecide, type WaitingSession } from './how-to-answer.ts';

/** Tells a client that its message waits for these approvals. */
export function queuedBehind(session: WaitingSession, approvals: readonly PendingApproval[]): Queued {
  const message = `The message waits behind a turn that needs approval. ${howToDecide(session, approvals)}`;
  return { message, approvals };
}
