import type { SessionId } from '../../core/ids.ts';
import type { PendingApproval, PendingInput } from '../../core/session/session-view.ts';

/** Which calls need approval, and where to approve or deny them, for people. */
export function howToDecide(sessionId: SessionId, approvals: readonly PendingApproval[]): string {
  return approvals
    .map(({ toolName, callId, expiresAt }) => {
      const path = `/api/sessions/${sessionId}/approvals/${encodeURIComponent(callId)}`;
      return `${toolName} (call ${callId}) waits${until(expiresAt)}: approve or deny it in the console, or with POST ${path}.`;
    })
    .join(' ');
}

/** What a tool server asks, and where to answer it, for people. */
export function howToAnswer(
  sessionId: SessionId,
  { toolName, inputId, message, expiresAt }: PendingInput,
): string {
  const path = `/api/sessions/${sessionId}/inputs/${encodeURIComponent(inputId)}`;
  return `The tool ${toolName} asks: ${message} It waits${until(expiresAt)}: answer it in the console, or with POST ${path}.`;
}

function until(expiresAt: string | undefined): string {
  return expiresAt === undefined ? '' : ` until ${expiresAt}`;
}
