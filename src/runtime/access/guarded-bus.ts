import { requireScope } from '../../core/access/require-scope.ts';
import type { Scope } from '../../core/access/scopes.ts';
import { sentKeyId } from '../../core/access/session-keys.ts';
import { isOwn, sessionIdOf, sessionNameFor } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ToolCallSignal } from '../../core/tool-call/tool-progress.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Audit } from '../../ports/audit.ts';
import type { Bus, MachineFilter, SessionListener, Unsubscribe } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';
import { auditEntry } from './audited-requests.ts';
import type { GrantBook } from './grant-book.ts';
import { sessionNeeds } from './session-needs.ts';
import { TRANSLATIONS } from './translated-requests.ts';
import { VisibleSessions } from './visible-sessions.ts';

export interface GuardedBusDeps {
  /** The bus of an agent. */
  readonly bus: Bus;
  /** Takes what may pass to the bus. */
  readonly requests: Pick<Bus, 'send'>;
  readonly grants: GrantBook;
  /** Throws if the credential was revoked since its client was authenticated. */
  readonly refuseRevoked: (client: RequestContext) => void;
  readonly audit: Audit;
}

/**
 * The bus as clients may use it. Every request of every protocol passes here: its scope is checked, and the names that a
 * client has for sessions become their ids. What does not belong to the client is not there: the answer is the same as
 * for a session that nobody has. A service without authentication has no such bus.
 */
export class GuardedBus implements Bus {
  readonly #bus: Bus;
  readonly #requests: Pick<Bus, 'send'>;
  readonly #visible: VisibleSessions;
  readonly #refuseRevoked: (client: RequestContext) => void;
  readonly #audit: Audit;

  constructor({ bus, requests, grants, refuseRevoked, audit }: GuardedBusDeps) {
    this.#bus = bus;
    this.#requests = requests;
    this.#refuseRevoked = refuseRevoked;
    this.#audit = audit;
    this.#visible = new VisibleSessions(grants);
  }

  async send<T extends RequestType>(
    type: T,
    request: RequestOf<T>,
    client: RequestContext,
  ): Promise<AnswerOf<T>> {
    const { inward, outward } = TRANSLATIONS[type] ?? {};
    const meant = inward ? inward(request, client, this.#visible) : request;
    const needs = sessionNeeds(type, meant);
    try {
      if (!client.hasLeft) this.#refuseRevoked(client);
      requireScope(client, scopeOf(type));
      for (const { id, need } of needs) this.#visible.require(id, need, client);
      const answer = await this.#requests.send(type, meant, client);
      this.#record(type, meant, { needs, client });
      return outward ? outward(answer, client, this.#visible) : answer;
    } catch (error) {
      this.#record(type, meant, { needs, client }, error);
      throw inNamesOf(client, needs, error);
    }
  }

  #require(client: RequestContext, scope: Scope | null): void {
    this.#refuseRevoked(client);
    requireScope(client, scope);
  }

  #record(
    type: RequestType,
    request: object,
    {
      needs,
      client,
    }: { readonly needs: readonly { readonly id: SessionId }[]; readonly client: RequestContext },
    error?: unknown,
  ): void {
    const entry = auditEntry(type, { request, ids: needs.map(({ id }) => id), client }, error);
    if (entry) this.#audit.record(entry);
  }

  topicOf(name: SessionId, client: RequestContext): SessionId {
    const id = sessionIdOf(name, client);
    try {
      this.#requireReader(id, client);
    } catch (error) {
      this.#record('session.events', {}, { needs: [{ id }], client }, error);
      throw error;
    }
    // Who listens to a session of its own is in no entry: most do.
    if (!isOwn(id, client)) this.#record('session.events', {}, { needs: [{ id }], client });
    return id;
  }

  recheck(name: SessionId, client: RequestContext): void {
    this.#requireReader(sessionIdOf(name, client), client);
  }

  #requireReader(id: SessionId, client: RequestContext): void {
    this.#require(client, 'sessions:read');
    this.#visible.require(id, 'read', client);
  }

  onSession(topic: SessionId, listener: SessionListener): void {
    this.#bus.onSession(topic, listener);
  }

  offSession(topic: SessionId, listener: SessionListener): void {
    this.#bus.offSession(topic, listener);
  }

  onToolCall(callId: CallId, listener: (signal: ToolCallSignal) => void): Unsubscribe {
    return this.#bus.onToolCall(callId, listener);
  }

  onOfferChange(listener: (change: OfferChange) => void, client: RequestContext): Unsubscribe {
    this.#require(client, 'servers:read');
    return this.#bus.onOfferChange(listener, client);
  }

  async listMachines(filter: MachineFilter, client: RequestContext): Promise<readonly MachineState[]> {
    const machines = await this.#bus.listMachines(this.#filterFor(client, filter), client);
    return machines.flatMap((state) => this.#shownTo(client, state) ?? []);
  }

  onMachines(
    filter: MachineFilter,
    listener: (state: MachineState) => void,
    client: RequestContext,
  ): Unsubscribe {
    return this.#bus.onMachines(
      this.#filterFor(client, filter),
      (state) => {
        const shown = this.#shownTo(client, state);
        if (shown) listener(shown);
      },
      client,
    );
  }

  #filterFor(client: RequestContext, { sessionId }: MachineFilter): MachineFilter {
    this.#require(client, 'sessions:read');
    return sessionId === undefined ? {} : { sessionId: this.topicOf(sessionId, client) };
  }

  /** The state of a machine as the client may see it; null if it may not. */
  #shownTo(client: RequestContext, state: MachineState): MachineState | null {
    const { sessionId, context } = state;
    if (sessionId === undefined) return client.rights?.scopes.has('servers:read') ? state : null;
    if (!this.#visible.isSeenBy(sessionId, client)) return null;
    const name = sessionNameFor(sessionId, client);
    return { ...state, sessionId: name, context: { ...context, sessionId: name } };
  }
}

/** The error with the client's names in place of the ids of the sessions, and with its key as it was sent. */
function inNamesOf(client: RequestContext, named: ReturnType<typeof sessionNeeds>, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  // A bare id may be part of any word. Nobody but an admin meets one.
  const ids = named.map(({ id }) => id).filter((id) => id.includes('/'));
  const renamed = (text: string): string =>
    ids.reduce((said, id) => said.replaceAll(id, sessionNameFor(id, client)), text);
  const details: Record<string, unknown> = JSON.parse(renamed(JSON.stringify(error.details)));
  const { key } = details;
  const sent = typeof key === 'string' ? { ...details, key: sentKeyId(key, client) } : details;
  return new ServiceError(error.code, renamed(error.message), sent, error.cause);
}
