import { LRUCache } from 'lru-cache';
import { type ErrorCode, ServiceError, serviceStopping } from '../../core/errors.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { ToolCallSignal } from '../../core/tool-call/tool-progress.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Bus, MachineFilter, SessionListener, Unsubscribe } from '../../ports/bus.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { type NodeId, type NodeLoad, SessionElsewhereError } from '../../ports/membership.ts';
import type { RequestType, ServiceRequests } from '../../ports/service-requests.ts';
import type { SessionDirectory } from '../../ports/session-directory.ts';
import { within } from '../../timing/deadline.ts';
import { LocalBus } from '../bus/local-bus.ts';
import type { Journal } from '../sessions/journal.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { Cluster, ClusterAgent } from './cluster.ts';
import { Gathered } from './gathered-answers.ts';
import { HeldSignals } from './held-signals.ts';
import { busAway, NodeLostError } from './node-calls.ts';
import { RemoteMachines } from './remote-machines.ts';

type Request<T extends RequestType> = ServiceRequests[T]['request'];
type Answer<T extends RequestType> = ServiceRequests[T]['answer'];
type Position = Answer<'session.position'>;

/** For how long a request looks for the owner of its session while that changes. */
const PATIENCE_MS = 10_000;
const BETWEEN_TRIES_MS = 50;
const MOST_OWNERS = 100_000;
/** Open turns without an owner that are taken over together, so that every node takes some. */
const ORPHANS = 20;

/** Requests that may be done twice. */
const REPEATABLE: ReadonlySet<RequestType> = new Set<RequestType>([
  ...(['turn.cancel', 'session.reset', 'session.rename', 'session.describe', 'session.delete'] as const),
  ...(['session.position', 'session.rest', 'session.view', 'session.events'] as const),
]);

/** Errors that say that something is not there: another node may have just recorded it. */
const UNKNOWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_NOT_FOUND',
  'GRANT_NOT_FOUND',
  'API_KEY_NOT_FOUND',
]);

/** Requests that only look at a session as it is now. */
const READINGS: ReadonlySet<RequestType> = new Set<RequestType>(['session.position', 'session.view']);

/** Requests that change a session that there is. */
const CHANGES: ReadonlySet<RequestType> = new Set<RequestType>([
  ...(['turn.cancel', 'approval.answer', 'tool-call.answer', 'input.answer', 'session.fork'] as const),
  ...(['session.reset', 'session.rename', 'session.describe', 'session.extend', 'session.delete'] as const),
]);

export interface ClusterBusDeps {
  readonly cluster: Cluster;
  /** What the agent's streams begin with. */
  readonly prefix: string;
  /** Has the handlers, and the signals of this node's sessions. */
  readonly local: LocalBus;
  readonly log: Logger;
}

/** What there is once the agent is composed. */
interface Parts {
  readonly sessions: SessionRegistry;
  readonly journal: Journal;
  /** Reads what other nodes have recorded of tool servers, grants and API keys. */
  readonly catchUp: () => Promise<void>;
}

/**
 * The bus of an agent of a cluster: a request goes to the node that owns its session, and the signals of a session come
 * from there. So a client may talk to any node.
 */
export class ClusterBus implements Bus, ClusterAgent {
  readonly #cluster: Cluster;
  readonly #prefix: string;
  readonly #local: LocalBus;
  readonly #log: Logger;
  /** The listeners of this node, for the signals of all nodes. */
  readonly #listeners: LocalBus;
  readonly #counts = new Map<SessionId, number>();
  /** The other nodes that owned sessions when they were asked last. */
  readonly #owners = new LRUCache<SessionId, NodeId>({ maxSize: MOST_OWNERS, sizeCalculation: () => 1 });
  readonly #gathered: Gathered;
  readonly #machines: RemoteMachines;
  readonly #held: HeldSignals;
  #parts: Parts | null = null;
  #recovering = false;
  #recovered: Promise<void> = Promise.resolve();
  /** Whether somebody counts the turns that begin and end. */
  #hearsAll = false;
  #recoverAgain = false;

  constructor({ cluster, prefix, local, log }: ClusterBusDeps) {
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.#local = local;
    this.#log = log;
    this.#listeners = new LocalBus((error, { sessionId }) =>
      log.error({ sessionId, err: error }, 'a listener failed'),
    );
    this.#gathered = new Gathered({
      ...{ cluster, prefix, local },
      here: (type, request, context) => this.#here(type, request, context),
    });
    this.#machines = new RemoteMachines({ cluster, prefix, local });
    this.#held = new HeldSignals(cluster.membership, (signal) => {
      const stream = prefix + signal.sessionId;
      // Until then the session was only presumed to be new.
      if ('event' in signal && signal.seq === 1) cluster.announce('claimed', stream);
      cluster.relay.relay(stream, signal);
      if ('event' in signal) cluster.feeds.noteOwn(stream, signal);
      this.#listeners.publish(signal);
    });
    local.onEverySession((signal) => this.#held.publish(signal));
  }

  /** Of the sessions of this agent. */
  get directory(): SessionDirectory {
    const { membership, feeds } = this.#cluster;
    return {
      claim: (sessionId) => this.#claim(sessionId),
      presumeNew: (sessionId) => {
        const stream = this.#prefix + sessionId;
        membership.presumeNew(stream);
        feeds.presumeOwn(stream);
      },
      release: (sessionId) => membership.forget(this.#prefix + sessionId),
    };
  }

  /** Call it when the agent is composed: from then on it does what other nodes ask for. Resolves when it has taken over what it could. */
  async join(parts: Parts): Promise<void> {
    this.#parts = parts;
    this.#cluster.join(this.#prefix, this);
    await this.#cluster.introduce();
    this.recover();
    await this.#recovered;
  }

  handle: LocalBus['handle'] = (type, handler) => this.#local.handle(type, handler);

  /** Of this node's sessions, and of those that its clients hear. */
  onEverySession(listener: (signal: SessionSignal) => void): Unsubscribe {
    this.#hearsAll = true;
    return this.#listeners.onEverySession(listener);
  }

  async send<T extends RequestType>(
    type: T,
    request: Request<T>,
    context: RequestContext,
  ): Promise<Answer<T>> {
    const answer = await this.#send(type, request, context);
    const sessionId = type === 'session.position' ? sessionOf(request) : null;
    // It is the answer to this type.
    return sessionId === null ? answer : (this.#asTold(sessionId, answer as Position) as Answer<T>);
  }

  async #send<T extends RequestType>(
    type: T,
    request: Request<T>,
    context: RequestContext,
  ): Promise<Answer<T>> {
    const sessionId = sessionOf(request);
    // Whoever reads where a session is, hears from then on what follows.
    if (sessionId !== null && type !== 'turn.start')
      await this.#cluster.feeds.ready(this.#prefix + sessionId);
    if (sessionId === null || type === 'session.events') return this.#gathered.send(type, request, context);
    const asked: Asked<T> = { type, request, context, sessionId, until: performance.now() + PATIENCE_MS };
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#try(asked);
      } catch (error) {
        const answer = await this.#recoverFrom(error, asked);
        if (answer) return answer.answer;
        if (performance.now() >= asked.until) throw busAway(error instanceof Error ? error : undefined);
        if (tries > 1) await pause(BETWEEN_TRIES_MS);
      }
    }
  }

  topicOf(sessionId: SessionId): SessionId {
    return sessionId;
  }

  onSession(sessionId: SessionId, listener: SessionListener): void {
    const count = this.#counts.get(sessionId) ?? 0;
    this.#counts.set(sessionId, count + 1);
    this.#listeners.onSession(sessionId, listener);
    if (count === 0) this.#cluster.feeds.open(this.#prefix + sessionId, this.#knownOwner(sessionId));
  }

  offSession(sessionId: SessionId, listener: SessionListener): void {
    this.#listeners.offSession(sessionId, listener);
    const count = (this.#counts.get(sessionId) ?? 1) - 1;
    if (count > 0) this.#counts.set(sessionId, count);
    else {
      this.#counts.delete(sessionId);
      this.#cluster.feeds.close(this.#prefix + sessionId);
    }
  }

  /** Each node is connected to the tool servers by itself. */
  onOfferChange(listener: (change: OfferChange) => void): Unsubscribe {
    return this.#local.onOfferChange(listener);
  }

  onToolCall(callId: CallId, listener: (signal: ToolCallSignal) => void): Unsubscribe {
    return this.#local.onToolCall(callId, listener);
  }

  async listMachines(filter: MachineFilter): Promise<readonly MachineState[]> {
    return [...this.#local.listNow(filter), ...(await this.#machines.list(filter))];
  }

  onMachines(filter: MachineFilter, listener: (state: MachineState) => void): Unsubscribe {
    const stops = [this.#local.onMachines(filter, listener), this.#machines.watch(filter, listener)];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Of another node. Refuses with a `SessionElsewhereError` what is not for this one. */
  async request(name: string, request: unknown, context: unknown): Promise<unknown> {
    // The other node had it from a caller of `send`.
    const [type, wanted, asker] = [
      name as RequestType,
      request as Request<RequestType>,
      context as RequestContext,
    ];
    const sessionId = sessionOf(wanted);
    if (sessionId !== null) await this.#refuseWhenLeaving(sessionId, type);
    if (sessionId !== null && CHANGES.has(type)) await this.#claim(sessionId);
    if (sessionId !== null && type === 'session.position') return this.position(sessionId);
    return this.#local.send(type, wanted, asker);
  }

  async position(sessionId: SessionId): Promise<Position> {
    const position = await this.#composed.sessions.position(sessionId);
    return upTo(this.#held.toldUpTo(sessionId), position);
  }

  lost(sessionId: SessionId): void {
    if (this.#parts?.sessions.discard(sessionId)) this.#cluster.feeds.loseOwn(this.#prefix + sessionId);
  }

  get load(): NodeLoad {
    const { sessions } = this.#composed;
    return { sessions: sessions.size, ...sessions.load };
  }

  /** Signals that nobody is told yet. */
  get heldSignals(): number {
    return this.#held.size;
  }

  tell(signal: SessionSignal): void {
    this.#listeners.publish(signal);
  }

  /** Takes open turns over that nobody owns. Never rejects. */
  recover(): void {
    this.#recoverAgain = true;
    if (!this.#recovering) this.#recovered = this.#recoverAll();
  }

  /** Gives the sessions of this node up, for other nodes to go on with. */
  async drain(timeoutMs: number): Promise<void> {
    const { sessions } = this.#composed;
    const { membership, feeds, relay } = this.#cluster;
    await this.#cluster.leave();
    // A claim that is under way could take back what is given up now, and nobody would go on with it before this node ends.
    await within(timeoutMs, this.#recovered, undefined);
    await sessions.handOver(timeoutMs, async (sessionId, seq) => {
      const stream = this.#prefix + sessionId;
      feeds.disown(stream, seq);
      relay.end(stream);
      await membership.release([stream]);
      this.#cluster.announce('released', stream);
    });
  }

  get #composed(): Parts {
    if (!this.#parts) throw serviceStopping();
    return this.#parts;
  }

  /** What is in the log may not have been told here yet. Whoever goes on from there would hear it twice. */
  #asTold(sessionId: SessionId, position: Position): Position {
    const told = this.#cluster.feeds.toldUpTo(this.#prefix + sessionId, position.head);
    return upTo(Math.min(told, this.#held.toldUpTo(sessionId)), position);
  }

  async #claim(sessionId: SessionId): Promise<void> {
    const { membership, feeds } = this.#cluster;
    const stream = this.#prefix + sessionId;
    if (membership.owns(stream)) return;
    try {
      await membership.claim(stream);
    } catch (error) {
      // It may have been presumed that the session is new.
      feeds.loseOwn(stream);
      throw error;
    }
    this.#owners.delete(sessionId);
    await feeds.own(stream);
    this.#cluster.announce('claimed', stream);
  }

  async #try<T extends RequestType>(asked: Asked<T>): Promise<Answer<T>> {
    const { type, request, context, sessionId } = asked;
    const { sessions } = this.#composed;
    const { membership } = this.#cluster;
    const owner = sessions.has(sessionId) ? null : await this.#ownerOf(sessionId, type);
    if (owner !== null && !membership.living.has(owner)) throw new SessionElsewhereError(sessionId, null);
    if (owner !== null) return this.#ask(owner, asked);
    if (sessions.isDraining) await this.#refuseWhenLeaving(sessionId, type);
    // Before anything is recorded about the request.
    else if (CHANGES.has(type)) await this.#claim(sessionId);
    return this.#here(type, request, context);
  }

  /** What another node has just recorded counts. */
  async #here<T extends RequestType>(
    type: T,
    request: Request<T>,
    context: RequestContext,
  ): Promise<Answer<T>> {
    try {
      return await this.#local.send(type, request, context);
    } catch (error) {
      if (!(error instanceof ServiceError) || !UNKNOWN.has(error.code)) throw error;
      await this.#composed.catchUp();
      return this.#local.send(type, request, context);
    }
  }

  async #ask<T extends RequestType>(owner: NodeId, asked: Asked<T>): Promise<Answer<T>> {
    const { type: name, request, context, sessionId } = asked;
    const stop = this.#hearsAll && isTurn(asked) ? this.#hearToEnd(asked.request) : null;
    try {
      // What follows from the request must not come before the feed.
      await this.#cluster.feeds.follow(this.#prefix + sessionId, owner);
      const question = { type: 'request', prefix: this.#prefix, name, request, context } as const;
      // The other node answers as its handler of this type does.
      return (await this.#cluster.calls.ask(owner, question)) as Answer<T>;
    } catch (error) {
      stop?.();
      // Its signals come from elsewhere, too.
      if (error instanceof SessionElsewhereError)
        this.#cluster.feeds.released([this.#prefix + sessionId], owner);
      // Reading goes on while the owner cannot be asked. It is the answer to this type.
      if (name === 'session.position' && this.#isUnreachable(owner, error))
        return (await this.#recordedPosition(sessionId)) as Answer<T>;
      throw error;
    }
  }

  #isUnreachable(owner: NodeId, error: unknown): boolean {
    if (error instanceof NodeLostError) return this.#cluster.membership.living.has(owner);
    return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
  }

  /** As the log has it. */
  async #recordedPosition(sessionId: SessionId): Promise<Position> {
    const stream = this.#prefix + sessionId;
    const place = (await this.#cluster.membership.places([stream])).get(stream);
    return { head: place?.head ?? 0, running: null, reasoning: null };
  }

  /** Somebody counts the turns, so their ends are heard although no client listens. */
  #hearToEnd({ sessionId, turnId }: Request<'turn.start'>): () => void {
    const stop = (): void => this.offSession(sessionId, listener);
    const listener: SessionListener = {
      hear: (signal) => {
        if (endsTurn(signal, turnId)) stop();
      },
    };
    this.onSession(sessionId, listener);
    return stop;
  }

  #knownOwner(sessionId: SessionId): NodeId | undefined {
    if (this.#parts?.sessions.hasBegun(sessionId)) return this.#cluster.membership.self;
    return this.#owners.get(sessionId);
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
    // While this node stops, another one takes the session.
    if (this.#composed.sessions.isDraining && !READINGS.has(type)) {
      await this.#composed.sessions.left(sessionId);
      return this.#cluster.others.find(({ isDraining }) => !isDraining)?.nodeId ?? null;
    }
    return null;
  }

  /** While this node stops, the sessions that it still has can be read, and everything else waits until they have left. */
  async #refuseWhenLeaving(sessionId: SessionId, type: RequestType): Promise<void> {
    const { sessions } = this.#composed;
    if (!sessions.isDraining || (READINGS.has(type) && sessions.has(sessionId))) return;
    await sessions.left(sessionId);
    if (this.#cluster.others.some(({ isDraining }) => !isDraining))
      throw new SessionElsewhereError(sessionId, null);
  }

  /** Returns the answer, or null to try again. Throws what cannot be tried again. */
  async #recoverFrom<T extends RequestType>(
    error: unknown,
    asked: Asked<T>,
  ): Promise<{ answer: Answer<T> } | null> {
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
    if (!(error instanceof NodeLostError)) throw error;
    this.#owners.delete(sessionId);
    // Whatever the other node did is in the log now, and it can do nothing more.
    if (this.#cluster.membership.living.has(error.node)) throw outcomeUnknown(error);
    if (isTurn(asked)) {
      const turn = await this.#recorded(asked.request);
      return turn && { answer: turn as Answer<T> };
    }
    if (!REPEATABLE.has(type)) throw outcomeUnknown(error);
    return null;
  }

  /** The turn of a message, if the log has it. */
  async #recorded({ sessionId, turnId }: Request<'turn.start'>): Promise<Answer<'turn.start'> | null> {
    const events = await this.#composed.journal.read(sessionId, 0);
    if (!events.some(({ event }) => event.type === 'turn.requested' && event.turnId === turnId)) return null;
    const ended = events.map(({ event }) => outcomeOf(event)).find((end) => end?.turnId === turnId);
    return { turnId, ...(ended && { outcome: ended.outcome }) };
  }

  async #recoverAll(): Promise<void> {
    this.#recovering = true;
    try {
      while (this.#recoverAgain && this.#parts && !this.#cluster.isDraining) {
        this.#recoverAgain = false;
        const orphans = await this.#cluster.membership.claimOrphans(this.#prefix, ORPHANS);
        await Promise.all(orphans.map((stream) => this.#takeOver(stream)));
        if (orphans.length === ORPHANS) this.#recoverAgain = true;
      }
    } catch (err) {
      this.#log.warn({ err }, 'could not look for open turns of nodes that are gone');
    } finally {
      this.#recovering = false;
    }
  }

  async #takeOver(stream: string): Promise<void> {
    const sessionId = stream.slice(this.#prefix.length);
    try {
      this.#owners.delete(sessionId);
      await this.#cluster.feeds.own(stream);
      this.#cluster.announce('claimed', stream);
      await this.#composed.sessions.goOn(sessionId);
      this.#log.info({ sessionId }, 'an open turn of a node that is gone goes on here');
    } catch (err) {
      this.#log.error({ sessionId, err }, 'a session with an open turn could not be loaded');
    }
  }
}

interface Asked<T extends RequestType> {
  readonly type: T;
  readonly request: Request<T>;
  readonly context: RequestContext;
  readonly sessionId: SessionId;
  readonly until: number;
}

/** The running text is of the end. */
function upTo(seq: number, position: Position): Position {
  return seq < position.head ? { head: seq, running: null, reasoning: null } : position;
}

function isTurn(asked: { readonly type: RequestType }): asked is Asked<'turn.start'> {
  return asked.type === 'turn.start';
}

function endsTurn(signal: SessionSignal, turnId: string): boolean {
  if (!('event' in signal)) return signal.type === 'session.fault';
  return signal.event.type === 'session.deleted' || outcomeOf(signal.event)?.turnId === turnId;
}

/** The session that a request is about. */
function sessionOf(request: Request<RequestType>): SessionId | null {
  if ('sessionId' in request) return request.sessionId;
  return 'from' in request ? request.from : null;
}

function outcomeUnknown(cause: Error): ServiceError {
  const details = {
    reason: 'the node that had the session was lost before it answered',
    suggestion: 'See whether it took effect before you send it again.',
  };
  return new ServiceError(
    'OUTCOME_UNKNOWN',
    'Nobody knows whether this request took effect.',
    details,
    cause,
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
