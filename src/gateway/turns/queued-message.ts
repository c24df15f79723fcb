import type { SessionId } from '../../core/ids.ts';
import type { PendingApproval } from '../../core/session/session-view.ts';
import type { Queued } from '../../wire/queued.ts';
import { howToDecide } from './how-to-answer.ts';

/** Tells a client that its message waits for these approvals. */
export function queuedBehind(sessionId: SessionId, approvals: readonly PendingApproval[]): Queued {
  const message = `The message waits behind a turn that needs approval. ${howToDecide(sessionId, approvals)}`;
  return { message, approvals };
}
