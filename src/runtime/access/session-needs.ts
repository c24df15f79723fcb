import type { SessionId } from '../../core/ids.ts';
import { type SessionNeed, sessionNeedOf } from '../../ports/request-rules.ts';
import type { RequestType } from '../../ports/service-requests.ts';

/** The sessions that a request names, and what its client must be allowed to do with each. */
export function sessionNeeds(type: RequestType, request: object): { id: SessionId; need: SessionNeed }[] {
  const needs: { id: SessionId; need: SessionNeed }[] = [];
  if ('sessionId' in request && typeof request.sessionId === 'string')
    needs.push({ id: request.sessionId, need: sessionNeedOf(type) ?? 'own' });
  // A fork reads one session, and makes another.
  if ('from' in request && typeof request.from === 'string') needs.push({ id: request.from, need: 'read' });
  if ('to' in request && typeof request.to === 'string') needs.push({ id: request.to, need: 'own' });
  return needs;
}
