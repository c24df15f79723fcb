import type { GrantAccess } from '../../core/access/grant.ts';
import { isAmong, ownPrefix, type SessionsOf, sessionNameFor } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionNeed } from '../../ports/request-rules.ts';
import type { GrantBook } from './grant-book.ts';

/** Whose sessions a client may use: its own, those of its tenant if it is an admin, and those that are shared with it. */
export class VisibleSessions {
  readonly #grants: GrantBook;

  constructor(grants: GrantBook) {
    this.#grants = grants;
  }

  /** @param access of the shared sessions among them. */
  of(client: RequestContext, access: GrantAccess): SessionsOf {
    const { tenant, principal, rights } = client;
    if (rights?.scopes.has('admin')) return { tenant };
    const also = this.#grants.sharedWith(client, access);
    return also ? { tenant, principal, also } : { tenant, principal };
  }

  isSeenBy(id: SessionId, client: RequestContext): boolean {
    return owns(id, client) || this.#grants.accessOf(id, client).has('read');
  }

  /** What a client may do in a session that is shared with it. Undefined for those that it owns or administers. */
  sharedAccess(id: SessionId, client: RequestContext): readonly GrantAccess[] | undefined {
    return owns(id, client) ? undefined : [...this.#grants.accessOf(id, client)];
  }

  /**
   * Throws `SESSION_NOT_FOUND` for a session that the client may not know of, and `FORBIDDEN` for one that it may use, but
   * not for this.
   */
  require(id: SessionId, need: SessionNeed, client: RequestContext): void {
    if (owns(id, client)) return;
    const access = this.#grants.accessOf(id, client);
    const sessionId = sessionNameFor(id, client);
    if (access.size === 0)
      throw new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`, { sessionId });
    if (need !== 'own' && access.has(need)) return;
    throw new ServiceError('FORBIDDEN', 'The session is shared with you, but not for this.', {
      sessionId,
      access: [...access],
      issue:
        need === 'own' ? 'only its owner or an administrator may do this' : `it is not shared for: ${need}`,
      suggestion: 'Ask its owner, or fork the session and go on in your own.',
    });
  }
}

/** Whether the session is the client's own, or, for an admin, one of its tenant. */
function owns(id: SessionId, client: RequestContext): boolean {
  const own = ownPrefix(client);
  if (own !== '' && id.startsWith(own)) return true;
  const { tenant, principal, rights } = client;
  return isAmong(id, rights?.scopes.has('admin') ? { tenant } : { tenant, principal });
}
