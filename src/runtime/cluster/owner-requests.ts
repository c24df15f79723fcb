import { LRUCache } from 'lru-cache';
import { type ErrorCode, outcomeUnknown, ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { positionAt, type SessionPosition } from '../../core/session/session-position.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import { type NodeId, SessionElsewhereError } from '../../ports/membership.ts';
import { effectOf, isAskedAgain } from '../../ports/request-rules.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';
import { pause } from '../../timing/pause.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { Journal } from '../sessions/journal.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { Cluster } from './cluster.ts';
import { busAway, NodeLostError } from './node-calls.ts';

type Position = AnswerOf<'session.position'>;

/** For how long a request looks for the owner of its session while that changes. */
const PATIENCE_MS = 10_000;
const BETWEEN_TRIES_MS = 50;
const MOST_OWNERS = 100_000;

/** Errors that say that something is not there: another node may have just recorded it. */
const NOT_FOUND: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_NOT_FOUND',
  'GRANT_NOT_FOUND',
  'API_KEY_NOT_FOUND',
]);

/** A session is not begun, or erased, while another one takes it. */
const BEGINS_OR_ENDS: ReadonlySet<RequestType> = new Set<RequestType>(['session.fork', 'session.delete']);

/** What there is once the agent is composed. */
export interface ComposedAgent {
  readonly sessions: SessionRegistry;
  readonly journal: Journal;
  /** Reads what other nodes have recorded of tool servers, grants and API keys. */
  readonly catchUp: () => Promise<void>;
}

export interface OwnerRequestsDeps {
  readonly cluster: Cluster;
  /** What the agent's streams begin with. */
  readonly prefix: string;
  /** Has the handlers of this node. */
  readonly local: LocalBus;
  /** Throws before the agent is composed. */
  readonly composed: () => ComposedAgent;
  /**
   * Called before a turn is asked for at another node, or looked for in the log. Returns what to call if the turn does not
   * begin, or is over; null if nobody has to hear the turn.
   */
  readonly hearTurn: (request: RequestOf<'turn.start'>) => (() => void) | null;
}

/** Sends each request about a session to the node that owns the session, and looks for that node while it changes. */
export class OwnerRequests {
  readonly #cluster: Cluster;
  readonly #prefix: string;
  readonly #local: LocalBus;
  readonly #composed: () => ComposedAgent;
  readonly #hearTurn: OwnerRequestsDeps['hearTurn'];
  /** The other nodes that owned sessions when they were asked last. */
  readonly #owners = new LRUCache<SessionId, NodeId>({ maxSize: MOST_OWNERS, sizeCalculation: () => 1 });
  /** The sessions that this node gives up because somebody asks for them while it stops. */
  readonly #givenUp = new Map<SessionId, Promise<void>>();

  constructor({ cluster, prefix, local, composed, hearTurn }: OwnerRequestsDeps) {
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.#local = local;
    this.#composed = composed;
    this.#hearTurn = hearTurn;
  }

  /** The other node that has the session, if it was asked about it lately. */
  knownOwner(sessionId: SessionId): NodeId | undefined {
    return this.#owners.get(sessionId);
  }

  async send<T extends RequestType>(wanted: Wanted<T>): Promise<AnswerOf<T>> {
    const until = performance.now() + PATIENCE_MS;
    const asked: Asked<T> = { ...wanted, commandId: crypto.randomUUID(), until, mayBeDone: false };
    for (let tries = 1; ; tries += 1) {
      // A try may wait for long until a session has left its node, and the next one finds it elsewhere.
      const isLast = performance.now() >= asked.until;
      try {
        return await this.#try(asked);
      } catch (error) {
        const answer = await this.#recoverFrom(error, asked);
        if (answer) return answer.answer;
        if (isLast) throw busAway(error instanceof Error ? error : undefined);
        if (tries > 1) await pause(BETWEEN_TRIES_MS);
      }
    }
  }

  /** The answer to a request of another node. Rejects with a `SessionElsewhereError` if it is not for this node. */
  async admit<A>(sessionId: SessionId, type: RequestType, answer: () => Promise<A>): Promise<A> {
    await this.#refuseWhenLeaving(sessionId, type);
    if (effectOf(type) === 'changes') await this.claim(sessionId);
    return this.#thenForget(sessionId, type, answer);
  }

  /** Answers by this node. What another node has just recorded counts. */
  async here<T extends RequestType>(
    type: T,
    request: RequestOf<T>,
    context: RequestContext,
  ): Promise<AnswerOf<T>> {
    try {
      return await this.#local.send(type, request, context);
    } catch (error) {
      if (!(error instanceof ServiceError) || !NOT_FOUND.has(error.code)) throw error;
      await this.#composed().catchUp();
      return this.#local.send(type, request, context);
    }
  }

  /** Makes the session this node's, unless another node has it. */
  async claim(sessionId: SessionId): Promise<void> {
    const { membership, feeds } = this.#cluster;
    const stream = this.#prefix + sessionId;
    // Nothing may be told of the session before what its clients lack.
    if (membership.owns(stream)) return feeds.owned(stream);
    // What this node gives up stays with the others.
    if (this.#composed().sessions.isDraining && this.#successor !== null)
      throw new SessionElsewhereError(sessionId, null);
    try {
      await membership.claim(stream);
    } catch (error) {
      // It may have been presumed that the session is new.
      feeds.loseOwn(stream);
      throw error;
    }
    await this.own(sessionId);
  }

  /** The session belongs to this node now. Rejects if the log cannot be read. Then it is claimed again before it is used. */
  async own(sessionId: SessionId): Promise<void> {
    const stream = this.#prefix + sessionId;
    this.#owners.delete(sessionId);
    try {
      await this.#cluster.feeds.own(stream);
    } catch (error) {
      this.#cluster.membership.forget(stream);
      throw error;
    } finally {
      // It is the owner, whatever its own clients lack.
      this.#cluster.announce('claimed', stream);
    }
  }

  async #try<T extends RequestType>(asked: Asked<T>): Promise<AnswerOf<T>> {
    const { type, request, context, sessionId } = asked;
    const { sessions } = this.#composed();
    const { membership } = this.#cluster;
    const owner = sessions.has(sessionId) ? null : await this.#ownerOf(sessionId, type);
    if (owner !== null && !membership.living.has(owner)) throw new SessionElsewhereError(sessionId, null);
    if (owner !== null) return this.#ask(owner, asked);
    if (sessions.isDraining) await this.#refuseWhenLeaving(sessionId, type);
    // Before anything is recorded about the request.
    else if (effectOf(type) === 'changes') await this.claim(sessionId);
    return this.#thenForget(sessionId, type, () => this.here(type, request, context));
  }

  /** A session that was claimed for a request, and that nobody has loaded since, may not exist: another node may begin it. */
  async #thenForget<A>(sessionId: SessionId, type: RequestType, answer: () => Promise<A>): Promise<A> {
    try {
      return await answer();
    } finally {
      if (effectOf(type) === 'changes' && !this.#composed().sessions.has(sessionId)) {
        this.#cluster.membership.forget(this.#prefix + sessionId);
        this.#cluster.feeds.loseOwn(this.#prefix + sessionId);
      }
    }
  }

  async #ask<T extends RequestType>(owner: NodeId, asked: Asked<T>): Promise<AnswerOf<T>> {
    const { type: name, context, sessionId, commandId } = asked;
    const request = isCancellation(asked) ? { ...asked.request, commandId } : asked.request;
    const stop = isTurn(asked) ? this.#hearTurn(asked.request) : null;
    try {
      // What follows from the request must not come before the feed.
      await this.#cluster.feeds.follow(this.#prefix + sessionId, owner);
      // Its lease may have ended meanwhile. Nothing was asked.
      if (!this.#cluster.membership.living.has(owner)) throw new SessionElsewhereError(sessionId, null);
      const question = { type: 'request', prefix: this.#prefix, name, request, context } as const;
      // The other node answers as its handler of this type does.
      const answer = (await this.#cluster.calls.ask(owner, question)) as AnswerOf<T>;
      if (isTurn(asked) && !begins(asked.request, answer as AnswerOf<'turn.start'>)) stop?.();
      return answer;
    } catch (error) {
      stop?.();
      // Its signals come from elsewhere, too.
      if (error instanceof SessionElsewhereError)
        this.#cluster.feeds.released([this.#prefix + sessionId], owner);
      // Reading goes on while the owner cannot be asked. It is the answer to this type.
      if (name === 'session.position' && this.#isUnreachable(owner, error))
        return (await this.#recordedPosition(sessionId)) as AnswerOf<T>;
      throw error;
    }
  }

  #isUnreachable(owner: NodeId, error: unknown): boolean {
    if (error instanceof NodeLostError) return this.#cluster.membership.living.has(owner);
    return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
  }

  /** As the log has it. */
  async #recordedPosition(sessionId: SessionId): Promise<SessionPosition> {
    const stream = this.#prefix + sessionId;
    const place = (await this.#cluster.membership.places([stream])).get(stream);
    return positionAt(place?.head ?? 0);
  }

  /** Null: this node, as far as is known. */
  async #ownerOf(sessionId: SessionId, type: RequestType): Promise<NodeId | null> {
    const { membership } = this.#cluster;
    const known = this.#owners.get(sessionId) ?? this.#cluster.feeds.sourceOf(this.#prefix + sessionId);
    if (known !== undefined && membership.living.has(known)) return known;
    // Nothing would say that it is elsewhere.
    if (type === 'session.rest' && !membership.owns(this.#prefix + sessionId)) {
      const stream = this.#prefix + sessionId;
      const owner = (await membership.places([stream])).get(stream)?.owner ?? null;
      return owner === membership.self ? null : owner;
    }
    // While this node stops, another one takes the session, or has it.
    if (this.#composed().sessions.isDraining) {
      await this.#giveUp(sessionId);
      return this.#successor;
    }
    return null;
  }

  /** While this node stops, the sessions that it still has go on here: a turn may need to be cancelled or approved to end. */
  async #refuseWhenLeaving(sessionId: SessionId, type: RequestType): Promise<void> {
    const { sessions } = this.#composed();
    if (!sessions.isDraining || (sessions.has(sessionId) && !BEGINS_OR_ENDS.has(type))) return;
    await this.#giveUp(sessionId);
    if (this.#successor !== null) throw new SessionElsewhereError(sessionId, null);
  }

  /**
   * Resolves when this node, which stops, has the session no more. One that has left its memory before is still its own
   * by the index, and nobody else could claim it before this node is gone.
   */
  #giveUp(sessionId: SessionId): Promise<void> {
    // One after the other: another node may have the session when the first one is done.
    const givenUp =
      this.#givenUp.get(sessionId) ??
      this.#giveUpNow(sessionId).finally(() => this.#givenUp.delete(sessionId));
    this.#givenUp.set(sessionId, givenUp);
    return givenUp;
  }

  async #giveUpNow(sessionId: SessionId): Promise<void> {
    const { sessions } = this.#composed();
    await sessions.left(sessionId);
    if (this.#successor === null) return;
    const { membership, feeds } = this.#cluster;
    const stream = this.#prefix + sessionId;
    const place = (await membership.places([stream])).get(stream);
    if (place?.owner !== membership.self) return;
    await feeds.ready(stream);
    if (sessions.has(sessionId)) return;
    await this.#cluster.giveUp(stream, place.head);
  }

  /** A node that takes what this one gives up. */
  get #successor(): NodeId | null {
    return this.#cluster.others.find(({ isDraining }) => !isDraining)?.nodeId ?? null;
  }

  /** Returns the answer, or null to try again. Throws what cannot be tried again. */
  async #recoverFrom<T extends RequestType>(
    error: unknown,
    asked: Asked<T>,
  ): Promise<{ answer: AnswerOf<T> } | null> {
    const { sessionId, type } = asked;
    if (error instanceof SessionElsewhereError) {
      if (error.owner === null || error.owner === this.#cluster.membership.self)
        this.#owners.delete(sessionId);
      else this.#owners.set(sessionId, error.owner);
      return null;
    }
    if (error instanceof StaleVersionError) {
      const stream = this.#prefix + sessionId;
      if (!this.#cluster.membership.owns(stream)) this.#cluster.feeds.loseOwn(stream);
      return null;
    }
    if (asked.mayBeDone && isDeleted(type, error)) return { answer: undefined as AnswerOf<T> };
    if (!(error instanceof NodeLostError)) throw error;
    this.#owners.delete(sessionId);
    // Whatever the other node did is in the log now, and it can do nothing more.
    if (this.#cluster.membership.living.has(error.node))
      throw effectOf(type) === 'looks' ? busAway(error) : answerLost(error);
    if (isTurn(asked)) {
      const turn = await this.#begunElsewhere(asked.request);
      return turn && { answer: turn as AnswerOf<T> };
    }
    // Another one would cancel the turn that waited behind it.
    if (isCancellation(asked) && (await this.#hasCancelled(asked))) return { answer: true as AnswerOf<T> };
    if (!isAskedAgain(type)) throw answerLost(error);
    asked.mayBeDone = true;
    return null;
  }

  /** The turn that a lost node has begun. It is heard to its end: another node goes on with it. */
  async #begunElsewhere(message: RequestOf<'turn.start'>): Promise<AnswerOf<'turn.start'> | null> {
    // Before the log is read, so that no end of the turn comes between.
    const stop = this.#hearTurn(message);
    let isHeard = false;
    try {
      await this.#cluster.feeds.ready(this.#prefix + message.sessionId);
      const turn = await this.#recorded(message);
      isHeard = turn !== null && begins(message, turn);
      return turn;
    } finally {
      if (!isHeard) stop?.();
    }
  }

  /** The turn of a message, if the log has it. */
  async #recorded({ sessionId, turnId }: RequestOf<'turn.start'>): Promise<AnswerOf<'turn.start'> | null> {
    let isRecorded = false;
    for await (const page of this.#composed().journal.pages(sessionId, 0))
      for (const { event } of page) {
        isRecorded ||= event.type === 'turn.requested' && event.turnId === turnId;
        const ended = outcomeOf(event);
        if (ended?.turnId === turnId) return { turnId, outcome: ended.outcome };
      }
    return isRecorded ? { turnId } : null;
  }

  /** Whether a lost node has done this, as the log has it. */
  async #hasCancelled({ sessionId, commandId }: Asked<'turn.cancel'>): Promise<boolean> {
    for await (const page of this.#composed().journal.pages(sessionId, 0))
      if (page.some(({ meta }) => meta?.causationId === commandId)) return true;
    return false;
  }
}

interface Wanted<T extends RequestType> {
  readonly type: T;
  readonly request: RequestOf<T>;
  readonly context: RequestContext;
  readonly sessionId: SessionId;
}

interface Asked<T extends RequestType> extends Wanted<T> {
  /** The same at each node that is asked. */
  readonly commandId: string;
  readonly until: number;
  /** Whether a node that was lost may have done it. */
  mayBeDone: boolean;
}

function isTurn(asked: { readonly type: RequestType }): asked is Asked<'turn.start'> {
  return asked.type === 'turn.start';
}

function isCancellation(asked: { readonly type: RequestType }): asked is Asked<'turn.cancel'> {
  return asked.type === 'turn.cancel';
}

/** A message that was sent before has the turn that began then. */
function begins({ turnId }: RequestOf<'turn.start'>, answer: AnswerOf<'turn.start'>): boolean {
  return answer.turnId === turnId && answer.outcome === undefined;
}

/** Whoever asks for the second time that a session is deleted wanted it gone, and it is. */
function isDeleted(type: RequestType, error: unknown): boolean {
  return type === 'session.delete' && error instanceof ServiceError && error.code === 'SESSION_NOT_FOUND';
}

function answerLost(cause: Error): ServiceError {
  return outcomeUnknown({ reason: 'the node that had the session was lost before it answered' }, cause);
}
