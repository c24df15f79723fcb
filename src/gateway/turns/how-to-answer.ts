import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { PendingApproval, PendingInput } from '../../core/session/session-view.ts';

/** The session in which calls wait, and the path of its agent. */
export interface WaitingSession {
  readonly agentPath: RequestContext['agentPath'];
  readonly sessionId: SessionId;
}

/** Which calls need approval, and where to approve or deny them, for people. */
export function howToDecide(session: WaitingSession, approvals: readonly PendingApproval[]): string {
  return approvals
    .map(({ toolName, callId, expiresAt }) => {
      const path = `${pathOf(session)}/approvals/${encodeURIComponent(callId)}`;
      return `${toolName} (call ${callId}) waits${until(expiresAt)}: approve or deny it in the console, or with POST ${path}.`;
    })
    .join(' ');
}

/** What a tool server asks, and where to answer it, for people. */
export function howToAnswer(
  session: WaitingSession,
  { toolName, inputId, message, expiresAt }: PendingInput,
): string {
  const path = `${pathOf(session)}/inputs/${encodeURIComponent(inputId)}`;
  return `The tool ${toolName} asks: ${message} It waits${until(expiresAt)}: answer it in the console, or with POST ${path}.`;
}

/** The id of a shared session has slashes. Where there are several agents, a path without one is of the first. */
function pathOf({ agentPath = '', sessionId }: WaitingSession): string {
  return `${agentPath}/api/sessions/${encodeURIComponent(sessionId)}`;
}

function until(expiresAt: string | undefined): string {
  return expiresAt === undefined ? '' : ` until ${expiresAt}`;
}
