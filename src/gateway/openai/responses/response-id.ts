import { AgentId } from '../../../core/agent-description.ts';
import { ServiceError } from '../../../core/errors.ts';
import { SessionId, type TurnId } from '../../../core/ids.ts';

/*
 * A response is what the agent does from one request of its client to the next: a turn, or a part of one if the turn waited
 * for tools of the client meanwhile. Its id says where it is in the log, so that nothing has to be kept to find it.
 */

export interface ResponsePlace {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** The first step of the response within its turn. */
  readonly firstStep: number;
}

const ID = /^resp_([0-9A-Za-z-]+)\.(\d{1,6})~([^~]+)~([^~]+)$/;

export function responseId({ agentId, sessionId, turnId, firstStep }: ResponsePlace): string {
  return `resp_${turnId}.${firstStep}~${agentId}~${sessionId}`;
}

/** Throws `SESSION_NOT_FOUND`. @param field of the request that has the id. */
export function responsePlace(id: string, field: string): ResponsePlace {
  const [, turnId, step, agentId, sessionId] = ID.exec(id) ?? [];
  const isPlace = AgentId.safeParse(agentId).success && SessionId.safeParse(sessionId).success;
  if (!isPlace || !turnId || !agentId || !sessionId || Number(step) < 1) throw noResponse(id, field);
  return { agentId, sessionId, turnId, firstStep: Number(step) };
}

export function noResponse(id: string, field: string): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', `There is no response ${id}.`, { field });
}
