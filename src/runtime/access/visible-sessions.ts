import { isAmong, ownPrefix, type SessionsOf } from '../../core/access/session-names.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';

/** A principal sees its own sessions, and an admin those of the tenant. */
export function sessionsSeenBy({ tenant, principal, rights }: RequestContext): SessionsOf {
  return rights?.scopes.has('admin') ? { tenant } : { tenant, principal };
}

export function isSeenBy(id: SessionId, client: RequestContext): boolean {
  const own = ownPrefix(client);
  return (own !== '' && id.startsWith(own)) || isAmong(id, sessionsSeenBy(client));
}
