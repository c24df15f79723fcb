import type { Grant, GrantAccess, NewGrant } from '../../core/access/grant.ts';
import { isOfTenant } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { GRANTS_STREAM } from '../../core/log/streams.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SharedStream } from '../streams/shared-stream.ts';

/** Most grants of one session. */
const MAX_GRANTS = 100;

/** How far the clocks of two nodes may be apart. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

const NONE: ReadonlySet<GrantAccess> = new Set();
/** What each access allows. */
const ALLOWS: Readonly<Record<GrantAccess, readonly GrantAccess[]>> = {
  read: ['read'],
  talk: ['read', 'talk'],
  approve: ['read', 'approve'],
};

/**
 * Which sessions of an agent are shared, with whom, and for what. A session that is not shared costs a check one look into
 * a map. Nobody of another tenant gets anything, whatever the grants say. Other nodes may share sessions, too: `catchUp`
 * reads what they did.
 */
export class GrantBook {
  readonly #store: EventStore;
  readonly #log: Logger;
  readonly #bySession = new Map<SessionId, Map<string, Grant>>();
  /** When the session of each grant began. The grants of earlier releases do not say it. */
  readonly #began = new Map<string, number>();
  /** The sessions of grants that count no more although the log does not say so yet. */
  readonly #ended = new Map<string, SessionId>();
  readonly #onRevoked = new Set<() => void>();
  readonly #stream: SharedStream;

  private constructor(store: EventStore, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#stream = new SharedStream(store, GRANTS_STREAM, (envelope) => this.#fold(envelope));
  }

  /**
   * Forgets the grants of sessions that are gone, and those that were given for an earlier session of the name. Earlier
   * releases left such grants behind.
   */
  static async load(store: EventStore, log: Logger): Promise<GrantBook> {
    const book = new GrantBook(store, log);
    await book.catchUp();
    for (const sessionId of [...book.#bySession.keys()]) {
      const [known] = await store.sessions({ sessionId });
      const began = known?.createdAt ?? Infinity;
      if (!book.#forget(sessionId, (grant) => book.#isOfEarlier(grant, began))) continue;
      await book.#revokeForgotten(sessionId).catch((err: unknown) => {
        log.error({ sessionId, err }, 'the grants of a deleted session could not be revoked');
      });
    }
    return book;
  }

  /** Reads what other nodes have written. The listeners hear of each grant that they revoked. */
  catchUp(): Promise<void> {
    return this.#stream.catchUp();
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

  /** Resolves when the grant would survive a crash. The same grant twice is one. Throws `SESSION_NOT_FOUND`. */
  create(sessionId: SessionId, wanted: NewGrant, origin: Origin): Promise<Grant> {
    return this.#stream.write(async () => {
      const [known] = await this.#store.sessions({ sessionId });
      // The session may have been erased since the client was let in. The next one of its name is shared with nobody.
      if (!known) throw unknownSession(sessionId);
      const grants = this.list(sessionId);
      const same = grants.find((grant) => isSame(grant, wanted));
      if (same) return { events: [], answer: () => same };
      if (grants.length >= MAX_GRANTS) throw tooMany(sessionId);
      const grantId = crypto.randomUUID();
      return {
        events: [{ type: 'session.shared', grantId, sessionId, ...wanted, began: known.createdAt }],
        answer: () => this.#grant(sessionId, grantId),
      };
    }, origin);
  }

  /** Resolves when what was open by this grant has been looked at again. Throws `GRANT_NOT_FOUND`. */
  revoke(sessionId: SessionId, grantId: string, origin: Origin): Promise<Grant> {
    return this.#stream.write(() => {
      const grant = this.#grant(sessionId, grantId);
      return { events: [{ type: 'grant.revoked', grantId }], answer: () => grant };
    }, origin);
  }

  /**
   * The session is deleted: another one of the same name is not shared. Its grants count no more from now on. Resolves when
   * they would not after a crash either.
   */
  async endAll(sessionId: SessionId): Promise<void> {
    this.#forget(sessionId);
    await this.#revokeForgotten(sessionId, () => this.#forget(sessionId));
  }

  /** @param listener is called after each revocation. */
  onRevoked(listener: () => void): void {
    this.#onRevoked.add(listener);
  }

  /** Whether it was given for a session before the one that began then. */
  #isOfEarlier({ grantId, createdAt }: Grant, began: number): boolean {
    const recorded = this.#began.get(grantId);
    // A log that was copied or repaired may say of a fork that it began earlier, with its first event.
    if (recorded !== undefined) return recorded < began;
    // The time is by the clock of the node that has shared the session, and another one may have begun it.
    return Date.parse(createdAt) < began - CLOCKS_DIFFER_MS;
  }

  /** @param isMeant which grants are forgotten; all if absent. @returns whether there was any. */
  #forget(sessionId: SessionId, isMeant: (grant: Grant) => boolean = () => true): boolean {
    const forgotten = this.list(sessionId).filter(isMeant);
    for (const { grantId } of forgotten) {
      this.#ended.set(grantId, sessionId);
      this.#drop(grantId);
    }
    return forgotten.length > 0;
  }

  /** @param onRead is called when all that other nodes did is known. */
  #revokeForgotten(sessionId: SessionId, onRead?: () => void): Promise<void> {
    return this.#stream.write(() => {
      onRead?.();
      const ended = [...this.#ended].filter(([, of]) => of === sessionId);
      return {
        events: ended.map(([grantId]) => ({ type: 'grant.revoked', grantId })),
        answer: () => undefined,
      };
    }, serviceOrigin());
  }

  #grant(sessionId: SessionId, grantId: string): Grant {
    const grant = this.#bySession.get(sessionId)?.get(grantId);
    if (!grant) throw unknownGrant(grantId);
    return grant;
  }

  #fold({ event, time, meta }: Envelope<LoggedEvent>): void {
    if (event.type === 'session.shared') {
      const { type: _, began, ...shared } = event;
      if (began !== undefined) this.#began.set(event.grantId, began);
      const actor = meta?.actor;
      const createdBy = (actor?.kind === 'client' && actor.principal) || 'service';
      const grants = this.#bySession.get(event.sessionId) ?? new Map<string, Grant>();
      grants.set(event.grantId, { ...shared, createdAt: new Date(time).toISOString(), createdBy });
      this.#bySession.set(event.sessionId, grants);
    } else if (event.type === 'grant.revoked') {
      if (!this.#ended.delete(event.grantId)) this.#drop(event.grantId);
    } else throw new Error(`the stream ${GRANTS_STREAM} has an impossible event ${event.type}`);
  }

  #drop(grantId: string): void {
    this.#began.delete(grantId);
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
}

function isFor({ principal, role }: Grant, client: RequestContext): boolean {
  if (principal !== undefined) return principal === client.principal;
  return role !== undefined && client.rights?.roles.includes(role) === true;
}

function isSame(grant: Grant, { principal, role, access }: NewGrant): boolean {
  return grant.principal === principal && grant.role === role && grant.access === access;
}

export function unknownSession(sessionId: SessionId): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`, { sessionId });
}

function tooMany(sessionId: SessionId): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The session is shared too often.', {
    sessionId,
    issue: `it has ${MAX_GRANTS} grants`,
    suggestion: 'Share it with a role, or revoke a grant.',
  });
}

function unknownGrant(grantId: string): ServiceError {
  return new ServiceError('GRANT_NOT_FOUND', `There is no grant ${grantId} of this session.`, { grantId });
}
