import { serviceStopping } from '../../core/errors.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { positionAt, type SessionPosition } from '../../core/session/session-position.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { ToolCallSignal } from '../../core/tool-call/tool-progress.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Bus, MachineFilter, SessionListener, Unsubscribe } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { NodeId, NodeLoad } from '../../ports/membership.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';
import type { SessionDirectory } from '../../ports/session-directory.ts';
import { within } from '../../timing/deadline.ts';
import { LocalBus } from '../bus/local-bus.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterAgent } from './cluster-agents.ts';
import { Gathered } from './gathered-answers.ts';
import { HeldSignals } from './held-signals.ts';
import { OrphanTurns } from './orphan-turns.ts';
import { type ComposedAgent, OwnerRequests } from './owner-requests.ts';
import { RemoteMachines } from './remote-machines.ts';
import { sessionOf } from './request-session.ts';
import { SessionOwnership } from './session-ownership.ts';

type Adapt<T extends RequestType> = (answer: AnswerOf<T>, request: RequestOf<T>) => AnswerOf<T>;

/** About a session, and answered from the log alone. The answers may be larger than what nodes send each other. */
const READS_LOG: ReadonlySet<RequestType> = new Set<RequestType>(['session.events', 'session.view']);

export interface ClusterBusDeps {
  readonly cluster: Cluster;
  /** What the agent's streams begin with. */
  readonly prefix: string;
  /** Has the handlers, and the signals of this node's sessions. */
  readonly local: LocalBus;
  readonly log: Logger;
}

/**
 * The bus of an agent of a cluster: a request goes to the node that owns its session, and the signals of a session come
 * from there. So a client may talk to any node.
 */
export class ClusterBus implements Bus, ClusterAgent {
  readonly #cluster: Cluster;
  readonly #prefix: string;
  readonly #local: LocalBus;
  /** The listeners of this node, for the signals of all nodes. */
  readonly #listeners: LocalBus;
  readonly #counts = new Map<SessionId, number>();
  readonly #ownership: SessionOwnership;
  readonly #requests: OwnerRequests;
  readonly #gathered: Gathered;
  readonly #machines: RemoteMachines;
  readonly #held: HeldSignals;
  readonly #orphans: OrphanTurns;
  /** Answers that depend on what the clients of this node were told. */
  readonly #adapts: { readonly [T in RequestType]?: Adapt<T> } = {
    'session.position': (position, { sessionId }) => this.#asTold(sessionId, position),
  };
  /** Null before the agent is composed. */
  #agent: ComposedAgent | null = null;
  /** Whether somebody counts the turns that begin and end. */
  #hearsAll = false;

  constructor({ cluster, prefix, local, log }: ClusterBusDeps) {
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.#local = local;
    this.#listeners = new LocalBus((error, { sessionId }) =>
      log.error({ sessionId, err: error }, 'a listener failed'),
    );
    const ownership = new SessionOwnership({ cluster, prefix, sessions: () => this.#composed.sessions });
    this.#ownership = ownership;
    this.#requests = new OwnerRequests({
      cluster,
      prefix,
      local,
      ownership,
      composed: () => this.#composed,
      hearTurn: (request) => (this.#hearsAll ? this.#hearToEnd(request) : null),
    });
    this.#gathered = new Gathered({
      cluster,
      prefix,
      local,
      log,
      here: (type, request, context) => this.#requests.here(type, request, context),
    });
    this.#orphans = new OrphanTurns({
      cluster,
      prefix,
      log,
      isKnown: (sessionId) => this.#composed.sessions.caresFor(sessionId),
      own: (sessionId) => ownership.own(sessionId),
      goOn: (sessionId) => this.#composed.sessions.goOn(sessionId),
    });
    this.#machines = new RemoteMachines({ cluster, prefix, local });
    this.#held = new HeldSignals(cluster.membership, (signal) => {
      const stream = prefix + signal.sessionId;
      // Before its first event, the session was only presumed to be new.
      if ('event' in signal && signal.seq === 1) cluster.announce('claimed', stream);
      cluster.relay.relay(stream, signal);
      if ('event' in signal) cluster.feeds.noteOwn(stream, signal);
      this.#listeners.publish(signal);
    });
    local.onEverySession((signal) => this.#held.publish(signal));
  }

  /** The directory of this agent's sessions. */
  get directory(): SessionDirectory {
    const { membership, feeds } = this.#cluster;
    return {
      claim: (sessionId) => this.#ownership.claim(sessionId),
      presumeNew: (sessionId) => {
        const stream = this.#prefix + sessionId;
        membership.presumeNew(stream);
        feeds.presumeOwn(stream);
      },
      release: (sessionId) => membership.forget(this.#prefix + sessionId),
    };
  }

  /**
   * From now on, other nodes can ask this agent. Call it when the agent is composed. Resolves when this node has taken
   * over the open turns that it could.
   */
  async join(agent: ComposedAgent): Promise<void> {
    this.#agent = agent;
    this.#cluster.agents.join(this.#prefix, this);
    await this.#cluster.introduce();
    this.recover();
    await this.#orphans.settled;
  }

  handle: LocalBus['handle'] = (type, handler) => this.#local.handle(type, handler);

  /** Hears the signals of this node's sessions, and of the sessions that its clients hear. */
  onEverySession(listener: (signal: SessionSignal) => void): Unsubscribe {
    this.#hearsAll = true;
    return this.#listeners.onEverySession(listener);
  }

  async send<T extends RequestType>(
    type: T,
    request: RequestOf<T>,
    context: RequestContext,
  ): Promise<AnswerOf<T>> {
    const answer = await this.#send(type, request, context);
    const adapt: Adapt<T> | undefined = this.#adapts[type];
    return adapt ? adapt(answer, request) : answer;
  }

  async #send<T extends RequestType>(
    type: T,
    request: RequestOf<T>,
    context: RequestContext,
  ): Promise<AnswerOf<T>> {
    const sessionId = sessionOf(request);
    // A client that reads the position of a session hears all that follows it.
    if (sessionId !== null && type !== 'turn.start')
      await this.#cluster.feeds.ready(this.#prefix + sessionId);
    if (sessionId === null || READS_LOG.has(type)) return this.#gathered.send(type, request, context);
    return this.#requests.send({ type, request, context, sessionId });
  }

  topicOf(sessionId: SessionId): SessionId {
    return sessionId;
  }

  recheck(): void {
    // Everybody may go on.
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
    return this.#machines.watch(filter, listener);
  }

  /** Answers a request of another node. Rejects with a `SessionElsewhereError` if another node has to answer. */
  async request(
    type: RequestType,
    request: RequestOf<RequestType>,
    context: RequestContext,
  ): Promise<unknown> {
    const sessionId = sessionOf(request);
    if (sessionId === null) return this.#local.send(type, request, context);
    return this.#requests.admit<unknown>(sessionId, type, () =>
      type === 'session.position' ? this.position(sessionId) : this.#local.send(type, request, context),
    );
  }

  async position(sessionId: SessionId): Promise<SessionPosition> {
    const position = await this.#composed.sessions.position(sessionId);
    return upTo(this.#held.toldUpTo(sessionId), position);
  }

  lost(sessionId: SessionId): void {
    if (this.#agent?.sessions.discard(sessionId)) this.#cluster.feeds.loseOwn(this.#prefix + sessionId);
  }

  get load(): NodeLoad {
    const { loaded } = this.#composed.sessions;
    return { sessions: loaded.size, ...loaded.load };
  }

  /** How many signals wait until the lease of this node is certain. */
  get heldSignals(): number {
    return this.#held.size;
  }

  tell(signal: SessionSignal): void {
    // The turn is counted here from now on, perhaps longer than a client listens.
    if (this.#hearsAll && 'event' in signal && signal.event.type === 'turn.resumed')
      this.#hearToEnd({ sessionId: signal.sessionId, turnId: signal.event.turnId });
    this.#listeners.publish(signal);
  }

  /** Takes over open turns that no node owns, in the background. */
  recover(): void {
    if (this.#agent) this.#orphans.search();
  }

  /** Gives up the sessions of this node, so that other nodes go on with them. */
  async drain(timeoutMs: number): Promise<void> {
    const { sessions } = this.#composed;
    const until = performance.now() + timeoutMs;
    const leftMs = (): number => Math.max(0, until - performance.now());
    await this.#cluster.leave();
    // A claim under way could take back a session that is given up now. No node would go on with it until this node ends.
    await within(leftMs(), this.#orphans.settled, undefined);
    await sessions.handOver(leftMs(), (sessionId, seq) =>
      this.#cluster.giveUp(this.#prefix + sessionId, seq),
    );
  }

  get #composed(): ComposedAgent {
    if (!this.#agent) throw serviceStopping();
    return this.#agent;
  }

  /** The log may be ahead of what this node has told. A client that began at its head would hear those events twice. */
  #asTold(sessionId: SessionId, position: SessionPosition): SessionPosition {
    const told = this.#cluster.feeds.toldUpTo(this.#prefix + sessionId, position.head);
    return upTo(Math.min(told, this.#held.toldUpTo(sessionId)), position);
  }

  /** Listens to the end of a turn that is counted, also if no client does. Returns a function that stops it. */
  #hearToEnd({ sessionId, turnId }: Pick<RequestOf<'turn.start'>, 'sessionId' | 'turnId'>): () => void {
    let isOver = false;
    const stop = (): void => {
      if (isOver) return;
      isOver = true;
      this.offSession(sessionId, listener);
    };
    const listener: SessionListener = {
      hear: (signal) => {
        if (endsTurn(signal, turnId)) stop();
      },
    };
    this.onSession(sessionId, listener);
    return stop;
  }

  #knownOwner(sessionId: SessionId): NodeId | undefined {
    if (this.#agent?.sessions.hasBegun(sessionId)) return this.#cluster.membership.self;
    return this.#ownership.knownOwner(sessionId);
  }
}

/** The position, but not after `seq`. The running text belongs to the head, so an earlier position has none. */
function upTo(seq: number, position: SessionPosition): SessionPosition {
  return seq < position.head ? positionAt(seq) : position;
}

/** A fault is no end: the turn stays open in the log, and goes on sooner or later. */
function endsTurn(signal: SessionSignal, turnId: string): boolean {
  if (!('event' in signal)) return false;
  return signal.event.type === 'session.deleted' || outcomeOf(signal.event)?.turnId === turnId;
}
