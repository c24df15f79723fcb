import { AgentId } from '../../../core/agent-description.ts';
import { SessionId, type TurnId } from '../../../core/ids.ts';

/** Where a turn is in the log. It is the id of its task, so that nothing has to be kept to find it. */
export interface McpTurnPlace {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

const ID = /^([0-9A-Za-z-]+)~([^~]+)~([^~]+)$/;

export function taskIdOf({ agentId, sessionId, turnId }: McpTurnPlace): string {
  return `${turnId}~${agentId}~${sessionId}`;
}

/** Null if it is no id of a task. */
export function placeOf(taskId: string): McpTurnPlace | null {
  const [, turnId, agentId, sessionId] = ID.exec(taskId) ?? [];
  const isPlace = AgentId.safeParse(agentId).success && SessionId.safeParse(sessionId).success;
  return isPlace && turnId && agentId && sessionId ? { agentId, sessionId, turnId } : null;
}
