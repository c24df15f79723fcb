import type { AgentId } from '../../core/agent-description.ts';
import { SessionId, type TurnId } from '../../core/ids.ts';
import { a2aError } from './a2a-error.ts';

/*
 * A task is a turn, and a context is a session. The id of a task says where it is in the log, so that nothing has to be kept
 * to find it.
 */

export interface TaskPlace {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

const ID = /^([0-9A-Za-z-]+)~([^~]+)~([^~]+)$/;

export function taskId({ agentId, sessionId, turnId }: TaskPlace): string {
  return `${turnId}~${agentId}~${sessionId}`;
}

/** Throws `TASK_NOT_FOUND`, also for a task of another agent. */
export function taskPlace(id: string, agent: AgentId): TaskPlace {
  const [, turnId, agentId, sessionId] = ID.exec(id) ?? [];
  const isPlace = agentId === agent && SessionId.safeParse(sessionId).success;
  if (!isPlace || turnId === undefined || sessionId === undefined) throw noTask(id);
  return { agentId, sessionId, turnId };
}

export function noTask(id: string): Error {
  return a2aError('TASK_NOT_FOUND', `There is no task ${id}.`, { taskId: id });
}
