import type { GrantAccess } from '../../core/access/grant.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestType, ServiceRequests } from '../../ports/service-requests.ts';

/** What a client must be allowed to do with a session: what a grant gives, or what only its owner and admins may. */
export type SessionNeed = GrantAccess | 'own';

/** The requests that name one session. */
type AboutSession = {
  [T in RequestType]: ServiceRequests[T]['request'] extends { readonly sessionId: SessionId } ? T : never;
}[RequestType];

const NEEDS: Readonly<Record<AboutSession, SessionNeed>> = {
  'turn.start': 'talk',
  'turn.cancel': 'talk',
  'approval.answer': 'approve',
  'tool-call.answer': 'talk',
  'input.answer': 'talk',
  'session.view': 'read',
  'session.events': 'read',
  'session.position': 'read',
  'session.rest': 'read',
  'session.reset': 'own',
  'session.rename': 'own',
  'session.describe': 'own',
  'session.extend': 'talk',
  'session.delete': 'own',
  'push.register': 'own',
  'push.list': 'own',
  'push.end': 'own',
  'grant.create': 'own',
  'grant.list': 'own',
  'grant.revoke': 'own',
};

/** The sessions that a request names, and what its client must be allowed to do with each. */
export function sessionNeeds(type: RequestType, request: object): { id: SessionId; need: SessionNeed }[] {
  const needs: { id: SessionId; need: SessionNeed }[] = [];
  if ('sessionId' in request && typeof request.sessionId === 'string')
    needs.push({ id: request.sessionId, need: isAboutSession(type) ? NEEDS[type] : 'own' });
  // A fork reads one session, and makes another.
  if ('from' in request && typeof request.from === 'string') needs.push({ id: request.from, need: 'read' });
  if ('to' in request && typeof request.to === 'string') needs.push({ id: request.to, need: 'own' });
  return needs;
}

function isAboutSession(type: RequestType): type is AboutSession {
  return type in NEEDS;
}
