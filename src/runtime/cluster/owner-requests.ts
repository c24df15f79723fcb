import { type ErrorCode, outcomeUnknown, ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { positionAt } from '../../core/session/session-position.ts';
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
import { requestQuestion } from './node-questions.ts';
import { isCommandRecorded, recordedTurn } from './recorded-requests.ts';
import type { SessionOwnership } from './session-ownership.ts';

/** For how long a request looks for the owner of its session while that changes. */
const PATIENCE_MS = 10_000;
const BETWEEN_TRIES_MS = 50;

/** Errors that say that something is not there: another node may have just recorded it. */
const NOT_FOUND: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_NOT_FOUND',
  'GRANT_NOT_FOUND',
  'API_KEY_NOT_FOUND',
]);

/** The refusals which say that a lost node had done the request. Its answer is `answer`. */
const REFUSED_WHEN_DONE: { readonly [T in RequestType]?: RefusedWhenDone<T> } = {
  'session.delete': { code: 'SESSION_NOT_FOUND', answer: undefined },
};

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
  readonly ownership: SessionOwnership;
  /** Throws before the agent is composed. */
  readonly composed: () => ComposedAgent;
  /**
   * Called before a turn is asked for at another node, or looked for in the log. Returns a function to call if the turn
   * does not begin, or is over. Null: nobody has to hear the turn.
   */
  readonly hearTurn: (request: RequestOf<'turn.start'>) => (() => void) | null;
}

interface Wanted<T extends RequestType> {
  readonly type: T;
  readonly request: RequestOf<T>;
  readonly context: RequestContext;
  readonly sessionId: SessionId;
}

interface Asked<T extends RequestType> extends Wanted<T> {
  /** Identifies the request at each node that is asked. */
  readonly commandId: string;
  /** Whether a node that was lost may have done it. */
  mayBeDone: boolean;
}

interface Answered<T extends RequestType> {
  readonly answer: AnswerOf<T>;
}

interface RefusedWhenDone<T extends RequestType> extends Answered<T> {
  readonly code: ErrorCode;
}

type AskOwner<T extends RequestType> = (owner: NodeId, asked: Asked<T>) => Promise<AnswerOf<T>>;
type LookUp<T extends RequestType> = (asked: Asked<T>) => Promise<Answered<T> | null>;

/** Sends each request about a session to the node that owns the session, and looks for that node while it changes. */
export class OwnerRequests {
  readonly #deps: OwnerRequestsDeps;
  /** How the owner is asked, where that takes more than a question. */
  readonly #asks: { readonly [T in RequestType]?: AskOwner<T> } = {
    'turn.start': (owner, asked) => this.#askForTurn(owner, asked),
    'turn.cancel': (owner, asked) => {
      const { request, commandId } = asked;
      return this.#askNode(owner, { ...asked, request: { ...request, commandId } });
    },
    'session.position': (owner, asked) => this.#askForPosition(owner, asked),
  };
  /**
   * Finds in the log whether a node that is gone has done the request. Null: it has not, so the request can be sent again.
   * A second cancellation would cancel the turn that waited behind the first one.
   */
  readonly #lookUps: { readonly [T in RequestType]?: LookUp<T> } = {
    'turn.start': ({ request }) => this.#lookForTurn(request),
    'turn.cancel': ({ sessionId, commandId }) => this.#lookForCancellation(sessionId, commandId),
  };

  constructor(deps: OwnerRequestsDeps) {
    this.#deps = deps;
  }

  async send<T extends RequestType>(wanted: Wanted<T>): Promise<AnswerOf<T>> {
    const until = performance.now() + PATIENCE_MS;
    const asked: Asked<T> = { ...wanted, commandId: crypto.randomUUID(), mayBeDone: false };
    for (let tries = 1; ; tries += 1) {
      // One try may wait for long until a session has left its node, and only the next one finds the session elsewhere.
      const isLast = performance.now() >= until;
      try {
        return await this.#try(asked);
      } catch (error) {
        const answered = await this.#recoverFrom(error, asked);
        if (answered) return answered.answer;
        if (isLast) throw busAway(error instanceof Error ? error : undefined);
        if (tries > 1) await pause(BETWEEN_TRIES_MS);
      }
    }
  }

  /** The answer to a request of another node. Rejects with a `SessionElsewhereError` if it is not for this node. */
  async admit<A>(sessionId: SessionId, type: RequestType, answer: () => Promise<A>): Promise<A> {
    const { ownership } = this.#deps;
    await ownership.refuseWhenLeaving(sessionId, type);
    if (effectOf(type) === 'changes') await ownership.claim(sessionId);
    return this.#thenForget(sessionId, type, answer);
  }

  /** Answers by this node. What another node has just recorded counts. */
  async here<T extends RequestType>(
    type: T,
    request: RequestOf<T>,
    context: RequestContext,
  ): Promise<AnswerOf<T>> {
    const { local, composed } = this.#deps;
    try {
      return await local.send(type, request, context);
    } catch (error) {
      if (!(error instanceof ServiceError) || !NOT_FOUND.has(error.code)) throw error;
      await composed().catchUp();
      return local.send(type, request, context);
    }
  }

  async #try<T extends RequestType>(asked: Asked<T>): Promise<AnswerOf<T>> {
    const { type, request, context, sessionId } = asked;
    const { cluster, ownership, composed } = this.#deps;
    const { sessions } = composed();
    const owner = sessions.has(sessionId) ? null : await ownership.ownerOf(sessionId, type);
    if (owner !== null && !cluster.membership.living.has(owner))
      throw new SessionElsewhereError(sessionId, null);
    if (owner !== null) return this.#ask(owner, asked);
    if (sessions.isDraining) await ownership.refuseWhenLeaving(sessionId, type);
    // Before anything is recorded about the request.
    else if (effectOf(type) === 'changes') await ownership.claim(sessionId);
    return this.#thenForget(sessionId, type, () => this.here(type, request, context));
  }

  async #thenForget<A>(sessionId: SessionId, type: RequestType, answer: () => Promise<A>): Promise<A> {
    try {
      return await answer();
    } finally {
      if (effectOf(type) === 'changes') this.#deps.ownership.forgetUnlessBegun(sessionId);
    }
  }

  async #ask<T extends RequestType>(owner: NodeId, asked: Asked<T>): Promise<AnswerOf<T>> {
    const ask: AskOwner<T> | undefined = this.#asks[asked.type];
    try {
      return await (ask ? ask(owner, asked) : this.#askNode(owner, asked));
    } catch (error) {
      // The signals of the session come from elsewhere, too.
      if (error instanceof SessionElsewhereError)
        this.#deps.cluster.feeds.released([this.#deps.prefix + asked.sessionId], owner);
      throw error;
    }
  }

  async #askNode<T extends RequestType>(
    owner: NodeId,
    { type, request, context, sessionId }: Asked<T>,
  ): Promise<AnswerOf<T>> {
    const { cluster, prefix } = this.#deps;
    // The feed comes first, so that it misses nothing that the request causes.
    await cluster.feeds.follow(prefix + sessionId, owner);
    // The lease of the owner may have ended meanwhile. Nothing was asked.
    if (!cluster.membership.living.has(owner)) throw new SessionElsewhereError(sessionId, null);
    return cluster.messenger.ask(owner, requestQuestion(prefix, type, request, context));
  }

  async #askForTurn(owner: NodeId, asked: Asked<'turn.start'>): Promise<AnswerOf<'turn.start'>> {
    const stop = this.#deps.hearTurn(asked.request);
    try {
      const answer = await this.#askNode(owner, asked);
      if (!begins(asked.request, answer)) stop?.();
      return answer;
    } catch (error) {
      stop?.();
      throw error;
    }
  }

  /** Clients go on reading, from the log, while the owner cannot be asked. */
  async #askForPosition(
    owner: NodeId,
    asked: Asked<'session.position'>,
  ): Promise<AnswerOf<'session.position'>> {
    try {
      return await this.#askNode(owner, asked);
    } catch (error) {
      if (this.#isUnreachable(owner, error)) return this.#recordedPosition(asked.sessionId);
      throw error;
    }
  }

  #isUnreachable(owner: NodeId, error: unknown): boolean {
    if (error instanceof NodeLostError) return this.#deps.cluster.membership.living.has(owner);
    return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
  }

  async #recordedPosition(sessionId: SessionId): Promise<AnswerOf<'session.position'>> {
    const stream = this.#deps.prefix + sessionId;
    const place = (await this.#deps.cluster.membership.places([stream])).get(stream);
    return positionAt(place?.head ?? 0);
  }

  /** Returns the answer, or null to try again. Throws what cannot be tried again. */
  async #recoverFrom<T extends RequestType>(error: unknown, asked: Asked<T>): Promise<Answered<T> | null> {
    const { sessionId, type } = asked;
    const { cluster, ownership, prefix } = this.#deps;
    const { membership, feeds } = cluster;
    if (error instanceof SessionElsewhereError) {
      ownership.noteOwner(sessionId, error.owner);
      return null;
    }
    if (error instanceof StaleVersionError) {
      const stream = prefix + sessionId;
      if (!membership.owns(stream)) feeds.loseOwn(stream);
      return null;
    }
    const done = doneBefore(asked, error);
    if (done) return done;
    if (!(error instanceof NodeLostError)) throw error;
    ownership.noteOwner(sessionId, null);
    // The node may still do what it was asked for.
    if (membership.living.has(error.node))
      throw effectOf(type) === 'looks' ? busAway(error) : answerLost(error);
    // The node can do nothing more, and what it did is in the log.
    const lookUp: LookUp<T> | undefined = this.#lookUps[type];
    const answered = lookUp ? await lookUp(asked) : null;
    if (answered) return answered;
    if (!lookUp && !isAskedAgain(type)) throw answerLost(error);
    asked.mayBeDone = true;
    return null;
  }

  /** A turn that is found is heard to its end: another node goes on with it. */
  async #lookForTurn(message: RequestOf<'turn.start'>): Promise<Answered<'turn.start'> | null> {
    const { cluster, prefix, hearTurn, composed } = this.#deps;
    // This comes before the log is read, so that the end of the turn is not missed.
    const stop = hearTurn(message);
    let isHeard = false;
    try {
      await cluster.feeds.ready(prefix + message.sessionId);
      const answer = await recordedTurn(composed().journal, message);
      isHeard = answer !== null && begins(message, answer);
      return answer && { answer };
    } finally {
      if (!isHeard) stop?.();
    }
  }

  async #lookForCancellation(
    sessionId: SessionId,
    commandId: string,
  ): Promise<Answered<'turn.cancel'> | null> {
    const isCancelled = await isCommandRecorded(this.#deps.composed().journal, sessionId, commandId);
    return isCancelled ? { answer: true } : null;
  }
}

/** A message that was sent before has the turn that began then. */
function begins({ turnId }: RequestOf<'turn.start'>, answer: AnswerOf<'turn.start'>): boolean {
  return answer.turnId === turnId && answer.outcome === undefined;
}

/** The answer, if the refusal says that a lost node had done the request. */
function doneBefore<T extends RequestType>(
  { type, mayBeDone }: Asked<T>,
  error: unknown,
): Answered<T> | null {
  const refused: RefusedWhenDone<T> | undefined = REFUSED_WHEN_DONE[type];
  if (!mayBeDone || !refused) return null;
  return error instanceof ServiceError && error.code === refused.code ? refused : null;
}

function answerLost(cause: Error): ServiceError {
  return outcomeUnknown({ reason: 'the node that had the session was lost before it answered' }, cause);
}
