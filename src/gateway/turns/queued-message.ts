import type { SessionId } from '../../core/ids.ts';
import type { PendingApproval } from '../../core/session/session-view.ts';
import type { Queued } from '../../wire/queued.ts';

/** Tells a client that its message waits for these approvals. */
export function queuedBehind(sessionId: SessionId, approvals: readonly PendingApproval[]): Queued {
  const message = `The message waits behind a turn that needs approval. ${howToDecide(sessionId, approvals)}`;
  return { message, approvals };
}

/** Which calls need approval, and where to approve or deny them, for people. */
export function howToDecide(sessionId: SessionId, approvals: readonly PendingApproval[]): string {
  return approvals
    .map(({ toolName, callId, expiresAt }) => {
      const until = expiresAt === undefined ? '' : ` until ${expiresAt}`;
      const path = `/api/sessions/${sessionId}/approvals/${encodeURIComponent(callId)}`;
      return `${toolName} (call ${callId}) waits${until}: approve or deny it in the console, or with POST ${path}.`;
    })
    .join(' ');
}
