import type { Grant, GrantAccess, NewGrant } from '../../core/access/grant.ts';
import { isOfTenant } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { LoggedEvent, ServiceEvent } from '../../core/log/events.ts';
import { GRANTS_STREAM } from '../../core/log/streams.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';

/** Most grants of one session. */
const MOST_GRANTS = 100;

const NONE: ReadonlySet<GrantAccess> = new Set();
/** What each access allows. */
const ALLOWS: Readonly<Record<GrantAccess, readonly GrantAccess[]>> = {
  read: ['read'],
  talk: ['read', 'talk'],
  approve: ['read', 'approve'],
};

/**
 * Which sessions of an agent are shared, with whom, and for what. A session that is not shared costs a check one look into
 * a map. Nobody of another tenant gets anything, whatever the grants say.
 */
export class GrantBook {
  readonly #store: EventStore;
  readonly #log: Logger;
  readonly #bySession = new Map<SessionId, Map<string, Grant>>();
  readonly #onRevoked = new Set<() => void>();
  #seq = 0;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(store: EventStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** Forgets the grants of sessions that were deleted when nobody could be told. */
  static async load(store: EventStore, log: Logger): Promise<GrantBook> {
    const book = new GrantBook(store, log);
    book.#take(await store.read(GRANTS_STREAM, 0));
    for (const sessionId of [...book.#bySession.keys()]) {
      const [known] = await store.sessions({ sessionId });
      if (!known) await book.endAll(sessionId);
    }
    return book;
  }

  /** What the client may do with a session that is shared with it. Empty for its own sessions, too. */
  accessOf(sessionId: SessionId, client: RequestContext): ReadonlySet<GrantAccess> {
    const grants = this.#bySession.get(sessionId);
    if (!grants || !isOfTenant(sessionId, client.tenant)) return NONE;
    const given = [...grants.values()].filter((grant) => isFor(grant, client));
    return given.length === 0 ? NONE : new Set(given.flatMap(({ access }) => ALLOWS[access]));
  }

  /** The sessions that are shared with the client for this. Undefined if there are none. */
  sharedWith(client: RequestContext, access: GrantAccess): ReadonlySet<SessionId> | undefined {
    const shared = [...this.#bySession.keys()].filter((id) => this.accessOf(id, client).has(access));
    return shared.length === 0 ? undefined : new Set(shared);
  }

  /** In the order of their creation. */
  list(sessionId: SessionId): Grant[] {
    return [...(this.#bySession.get(sessionId)?.values() ?? [])];
  }

  /** Resolves when the grant would survive a crash. The same grant twice is one. */
  create(sessionId: SessionId, wanted: NewGrant, origin: Origin): Promise<Grant> {
    return this.#inTurn(async () => {
      const grants = this.list(sessionId);
      const same = grants.find((grant) => isSame(grant, wanted));
      if (same) return same;
      if (grants.length >= MOST_GRANTS) throw tooMany(sessionId);
      const grantId = crypto.randomUUID();
      await this.#append({ type: 'session.shared', grantId, sessionId, ...wanted }, origin);
      const made = this.#bySession.get(sessionId)?.get(grantId);
      if (!made) throw new Error('the log has stored no grant');
      return made;
    });
  }

  /** Resolves when what was open by this grant has been looked at again. Throws `GRANT_NOT_FOUND`. */
  revoke(sessionId: SessionId, grantId: string, origin: Origin): Promise<Grant> {
    return this.#inTurn(async () => {
      const grant = this.#bySession.get(sessionId)?.get(grantId);
      if (!grant) throw unknownGrant(grantId);
      await this.#append({ type: 'grant.revoked', grantId }, origin);
      return grant;
    });
  }

  /** The session was deleted: another one of the same name is not shared. */
  endAll(sessionId: SessionId): Promise<void> {
    return this.#inTurn(async () => {
      for (const { grantId } of this.list(sessionId))
        await this.#append({ type: 'grant.revoked', grantId }, serviceOrigin());
    });
  }

  /** @param listener is called after each revocation. */
  onRevoked(listener: () => void): void {
    this.#onRevoked.add(listener);
  }

  async #append(event: ServiceEvent, origin: Origin): Promise<void> {
    this.#take(await this.#store.append(GRANTS_STREAM, this.#seq, [event], { origin }));
  }

  #take(envelopes: readonly Envelope<LoggedEvent>[]): void {
    for (const envelope of envelopes) {
      this.#seq = envelope.seq;
      this.#fold(envelope);
    }
  }

  #fold({ event, time, meta }: Envelope<LoggedEvent>): void {
    if (event.type === 'session.shared') {
      const { type: _, ...shared } = event;
      const actor = meta?.actor;
      const createdBy = (actor?.kind === 'client' && actor.principal) || 'service';
      const grants = this.#bySession.get(event.sessionId) ?? new Map<string, Grant>();
      grants.set(event.grantId, { ...shared, createdAt: new Date(time).toISOString(), createdBy });
      this.#bySession.set(event.sessionId, grants);
    } else if (event.type === 'grant.revoked') this.#drop(event.grantId);
    else throw new Error(`the stream ${GRANTS_STREAM} has an impossible event ${event.type}`);
  }

  #drop(grantId: string): void {
    for (const [sessionId, grants] of this.#bySession) {
      if (!grants.delete(grantId)) continue;
      if (grants.size === 0) this.#bySession.delete(sessionId);
    }
    for (const listener of this.#onRevoked) {
      try {
        listener();
      } catch (err) {
        this.#log.error({ err }, 'a listener of revoked grants failed');
      }
    }
  }

  /** One write after the other, because each names the seq that it follows. */
  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

function isFor({ principal, role }: Grant, client: RequestContext): boolean {
  if (principal !== undefined) return principal === client.principal;
  return role !== undefined && client.rights?.roles.includes(role) === true;
}

function isSame(grant: Grant, { principal, role, access }: NewGrant): boolean {
  return grant.principal === principal && grant.role === role && grant.access === access;
}

function tooMany(sessionId: SessionId): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The session is shared too often.', {
    sessionId,
    issue: `it has ${MOST_GRANTS} grants`,
    suggestion: 'Share it with a role, or revoke a grant.',
  });
}

function unknownGrant(grantId: string): ServiceError {
  return new ServiceError('GRANT_NOT_FOUND', `There is no grant ${grantId} of this session.`, { grantId });
}
