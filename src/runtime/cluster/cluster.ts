import type { AgentId, AgentVersion } from '../../core/agent-description.ts';
import { ServiceError } from '../../core/errors.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  type LivingNode,
  type Membership,
  type NodeId,
  SessionElsewhereError,
} from '../../ports/membership.ts';
import type { NodeLink } from '../../ports/node-link.ts';
import { type NodeTopic, nodeTopic, type Peers } from '../../ports/peers.ts';
import type { Clock } from '../../timing/clock.ts';
import { ClusterAgents } from './cluster-agents.ts';
import { Departures } from './departures.ts';
import { GatheredReleases } from './gathered-releases.ts';
import { LateAnswerError, NodeCalls } from './node-calls.ts';
import {
  ALL_NODES,
  type Announcement,
  encodeMessage,
  type NodeMessage,
  nodeSubject,
  parseMessage,
} from './node-messages.ts';
import {
  type NodeQuestion,
  type QuestionFor,
  topicQuestion,
  type WatchedPosition,
  watchQuestion,
} from './node-questions.ts';
import { Outbox } from './outbox.ts';
import { RemoteFeeds } from './remote-feeds.ts';
import { SignalRelay } from './signal-relay.ts';
import { VersionWatch } from './version-watch.ts';

/** Renewals of the lease between two looks for what nobody told. */
const CHECK_EVERY = 4;
/** How long the answer of each node is waited for, when all are asked. */
const ANSWER_MS = 2_000;
/** What nodes tell each other when they come and go, so that nobody waits for the next renewal. */
const JOINED = nodeTopic<null, void>('node.joined');
const LEAVING = nodeTopic<null>('node.leaving');
const REMOVED = nodeTopic<null>('node.removed');
const CHANGED = nodeTopic<StreamId, void>('stream.changed');

/** What came of asking one of several nodes. */
export type AskedNode<Answer> = { readonly node: LivingNode } & (
  | { readonly status: 'answered'; readonly answer: Answer }
  | { readonly status: 'refused'; readonly error: ServiceError }
  /** It may have done what it was asked for, or may do so later. */
  | { readonly status: 'unreached' }
);

interface AskOptions {
  readonly nodes?: ReadonlySet<NodeId> | undefined;
  /** How long each of them is waited for. */
  readonly limitMs?: number | undefined;
}

/** How the nodes of a cluster find each other. */
export interface ClusterPorts {
  readonly membership: Membership;
  readonly link: NodeLink;
}

export interface ClusterDeps extends ClusterPorts {
  readonly store: Pick<EventStore, 'pages'>;
  readonly log: Logger;
  /** Times the questions to other nodes. A simulated one, in tests. */
  readonly clock?: Clock;
}

/** This node among the others. The agents of the node share it. */
export class Cluster implements Peers, AsyncDisposable {
  readonly membership: Membership;
  readonly calls: NodeCalls;
  readonly relay: SignalRelay;
  readonly feeds: RemoteFeeds;
  readonly agents = new ClusterAgents();
  /** Where this node listens, as `host:port`. */
  address: string | undefined;
  /** Whether this node takes no more sessions. */
  isDraining = false;
  /** The agents that this node serves. Set when they are composed. */
  agentVersions: () => Readonly<Record<AgentId, AgentVersion>> = () => ({});
  readonly #link: NodeLink;
  readonly #outbox: Outbox;
  readonly #log: Logger;
  readonly #versions: VersionWatch;
  readonly #releases: GatheredReleases;
  readonly #told = new Map<string, Set<(payload: unknown) => void>>();
  readonly #asked = new Map<string, (payload: unknown) => Promise<unknown>>();
  readonly #onChanged = new Set<(stream: StreamId | null) => Promise<void>>();
  /** Announcements that wait for the end of this turn of the event loop. */
  readonly #announced = new Map<Announcement['type'], Set<StreamId>>();
  readonly #departures: Departures;
  /** The nodes that this node has certainly removed. */
  readonly #removed = new Set<NodeId>();
  #renewals = 0;
  #checking = false;
  readonly #stops: (() => void)[];

  constructor({ membership, link, store, log, clock }: ClusterDeps) {
    this.membership = membership;
    this.#link = link;
    const outbox = new Outbox(link);
    this.#outbox = outbox;
    this.#log = log;
    this.#versions = new VersionWatch(log);
    this.#releases = new GatheredReleases(membership);
    const { self } = membership;
    this.relay = new SignalRelay({ outbox, self });
    this.calls = new NodeCalls({
      link: outbox,
      membership,
      log,
      answer: (question, from) => this.#answer(question, from),
      clock,
    });
    this.feeds = new RemoteFeeds({
      membership,
      watch: (node, stream) => this.#watch(node, stream),
      read: async (stream, afterSeq, limit) => {
        for await (const page of store.pages(stream, afterSeq, limit))
          return this.agents.signalsOf(stream, page);
        return [];
      },
      sessionOf: (stream) => this.agents.sessionOf(stream).sessionId,
      tell: (stream, signal) => this.agents.sessionOf(stream).agent.tell(signal),
      want: (streams) => this.#publish(ALL_NODES, { type: 'wanted', from: self, streams }),
      unwatch: (node, streams) =>
        this.#publish(node === null ? ALL_NODES : nodeSubject(node), {
          type: 'unwatch',
          from: self,
          streams,
        }),
      onClaimed: (stream, owner) => this.#noteClaim(stream, owner),
      onError: (stream, err) => log.debug({ stream, err }, 'a session of another node cannot be heard now'),
    });
    this.onAsked(JOINED, () => membership.refresh());
    this.onAsked(CHANGED, (stream) => this.#tellChanged(stream));
    this.onTold(LEAVING, () => void membership.refresh());
    // It may not reach the database, and then its clients would wait at it until it does. One that stops has given all up.
    this.onTold(REMOVED, () => {
      if (!this.isDraining) membership.lose();
    });
    this.#departures = new Departures(log, membership.living);
    this.#stops = [
      link.subscribe(nodeSubject(self), (text) => this.#hear(text)),
      link.subscribe(ALL_NODES, (text) => this.#hear(text)),
      link.onGap(() => this.#noteGap()),
      membership.onRenewed(() => this.#noteRenewal()),
      membership.onRemoved((nodes) => {
        for (const node of nodes) {
          this.#removed.add(node);
          this.tellOne(node, REMOVED, null);
        }
      }),
    ];
  }

  /** The agent of this node can be asked, and the others know that it is there. */
  async introduce(): Promise<void> {
    await this.askAll(JOINED, null);
  }

  /** From now on no session is given to this node. */
  async leave(): Promise<void> {
    this.isDraining = true;
    this.#report();
    await this.membership.refresh();
    this.tell(LEAVING, null);
  }

  /** Gives up a session, for another node to go on with. @param head seq of its last event. */
  async giveUp(stream: StreamId, head: number): Promise<void> {
    this.feeds.disown(stream, head);
    this.relay.end(stream);
    await this.#releases.release(stream);
    this.announce('released', stream);
  }

  /** Whether this node cannot talk to the others, as far as is known. */
  get isCutOff(): boolean {
    return !this.#link.isUp;
  }

  /** What an operator should know now. */
  get warnings(): readonly string[] {
    const cutOff = this.isCutOff
      ? [
          'This node cannot reach NATS. Requests for sessions of other nodes are refused, and their events come late, from the database.',
        ]
      : [];
    return [...cutOff, ...this.#versions.warnings];
  }

  /** Messages that were not sent, or did not arrive, as far as is known. */
  get droppedMessages(): number {
    return this.#link.dropped;
  }

  get others(): LivingNode[] {
    return [...this.membership.living.values()].filter(({ nodeId }) => nodeId !== this.membership.self);
  }

  /** Tells the others, together with all that is announced in this turn of the event loop. */
  announce(type: Announcement['type'], stream: StreamId): void {
    if (this.#announced.size === 0) this.#outbox.soon(() => this.#announceAll());
    const streams = this.#announced.get(type) ?? new Set();
    this.#announced.set(type, streams.add(stream));
  }

  /** The stream of the service has new events. Resolves when the nodes that answer in time have read them. */
  async changed(stream: StreamId): Promise<void> {
    await this.askAll(CHANGED, stream);
  }

  /** @param listener reads what another node has appended to a stream of the service; null: to any, maybe. */
  onChanged(listener: (stream: StreamId | null) => Promise<void>): void {
    this.#onChanged.add(listener);
  }

  get clusterId(): string {
    return this.membership.cluster;
  }

  tell<Payload>({ name }: NodeTopic<Payload>, payload: NoInfer<Payload>): void {
    this.#publish(ALL_NODES, { type: 'told', from: this.membership.self, topic: name, payload });
  }

  /** Tells one other node, if it can be reached. */
  tellOne<Payload>(node: NodeId, { name }: NodeTopic<Payload>, payload: NoInfer<Payload>): void {
    this.#publish(nodeSubject(node), { type: 'told', from: this.membership.self, topic: name, payload });
  }

  onTold<Payload>({ name }: NodeTopic<Payload>, listener: (payload: Payload) => void): void {
    const listeners = this.#told.get(name) ?? new Set();
    // The other nodes tell under this name what the topic says.
    this.#told.set(name, listeners.add(listener as (payload: unknown) => void));
  }

  onAsked<Payload, Answer>(
    { name }: NodeTopic<Payload, Answer>,
    answer: (payload: Payload) => Promise<NoInfer<Answer>>,
  ): void {
    // The other nodes ask under this name with what the topic says.
    this.#asked.set(name, answer as (payload: unknown) => Promise<unknown>);
  }

  askAll<Payload, Answer>(topic: NodeTopic<Payload, Answer>, payload: NoInfer<Payload>): Promise<Answer[]> {
    return this.askOthers(topicQuestion(topic, payload));
  }

  /** The answers of the other nodes that answer in time. */
  async askOthers<Answer>(question: QuestionFor<Answer>, limitMs?: number): Promise<Answer[]> {
    const asked = await this.askEach(question, { limitMs });
    return asked.flatMap((one) => (one.status === 'answered' ? [one.answer] : []));
  }

  /** `nodes` leaves out all others. Those that are gone are left out, too. */
  askEach<Answer>(question: QuestionFor<Answer>, options?: AskOptions): Promise<AskedNode<Answer>[]> {
    return Promise.all(this.asking(question, options));
  }

  /** The same, for who needs no more than one of the answers. */
  asking<Answer>(
    question: QuestionFor<Answer>,
    { nodes, limitMs = ANSWER_MS }: AskOptions = {},
  ): Promise<AskedNode<Answer>>[] {
    const asked = this.others.filter(({ nodeId }) => nodes?.has(nodeId) !== false);
    return asked.map((node) => this.#ask(node, question, limitMs));
  }

  async #ask<Answer>(
    node: LivingNode,
    question: QuestionFor<Answer>,
    limitMs: number,
  ): Promise<AskedNode<Answer>> {
    const about = { asked: node.nodeId, question: question.type };
    try {
      return { node, status: 'answered', answer: await this.calls.ask(node.nodeId, question, limitMs) };
    } catch (err) {
      if (err instanceof LateAnswerError) this.#log.warn(about, 'a node did not answer in time');
      else this.#log.debug({ ...about, err }, 'a node refused, or could not be asked');
      // Without NATS the question was not sent.
      if (err instanceof ServiceError && err.code !== 'SERVICE_UNAVAILABLE')
        return { node, status: 'refused', error: err };
    }
    return { node, status: 'unreached' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#announceAll();
    this.relay[Symbol.dispose]();
    this.calls.close();
    this.#outbox[Symbol.dispose]();
    await this.#link[Symbol.asyncDispose]();
  }

  #publish(subject: string, message: NodeMessage): void {
    this.#outbox.publish(subject, encodeMessage(message));
  }

  #announceAll(): void {
    for (const [type, streams] of this.#announced) {
      this.#publish(ALL_NODES, { type, from: this.membership.self, streams: [...streams] });
    }
    this.#announced.clear();
  }

  #hear(text: string): void {
    const message = parseMessage(text);
    if (!message) return;
    // What told it so may have been lost.
    if (this.#removed.has(message.from)) this.tellOne(message.from, REMOVED, null);
    if (this.#departures.has(message.from)) return;
    this.#take(message);
  }

  #take(message: NodeMessage): void {
    switch (message.type) {
      case 'ask':
        this.calls.hearAsk(message);
        return;
      case 'ack':
        this.calls.hearAck(message.from, message.id);
        return;
      case 'answer':
        this.calls.hearAnswer(message);
        return;
      case 'feed':
        this.feeds.hear(message.from, message.n, message.items);
        return;
      case 'wanted':
        for (const stream of message.streams) this.relay.watch(stream, message.from);
        return;
      case 'unwatch':
        this.relay.unwatch(message.streams, message.from);
        return;
      case 'claimed':
        for (const stream of message.streams) this.#noteClaim(stream, message.from);
        return;
      case 'released':
        this.feeds.released(message.streams, message.from);
        this.agents.recover();
        return;
      case 'told':
        for (const listener of this.#told.get(message.topic) ?? []) listener(message.payload);
        return;
      default:
        message satisfies never;
    }
  }

  async #answer(question: NodeQuestion, from: NodeId): Promise<unknown> {
    if (question.type === 'topic') {
      const answer = this.#asked.get(question.topic);
      // It is starting. No answer would be taken for one.
      if (!answer) throw new SessionElsewhereError(question.topic, null);
      return answer(question.payload);
    }
    const agent = this.agents.withPrefix(question.prefix);
    if (question.type === 'request') return agent.request(question.name, question.request, question.context);
    const stream = question.prefix + question.sessionId;
    await this.#requireOwn(stream);
    const watched = this.relay.watch(stream, from);
    return { ...(await agent.position(question.sessionId)), ...watched } satisfies WatchedPosition;
  }

  #noteClaim(stream: StreamId, owner: NodeId): void {
    // This node has presumed that the session is new, and nothing has come of that.
    if (this.membership.owns(stream)) {
      const { agent, sessionId } = this.agents.sessionOf(stream);
      agent.lost(sessionId);
    } else {
      // What listens here takes this node for its owner still, if the session was empty here until it left memory.
      this.feeds.loseOwn(stream);
    }
    this.feeds.claimed(stream, owner);
  }

  async #requireOwn(stream: StreamId): Promise<void> {
    if (this.membership.owns(stream)) return;
    const { owner = null } = (await this.membership.places([stream])).get(stream) ?? {};
    if (owner !== this.membership.self) throw new SessionElsewhereError(stream, owner);
  }

  /** Asks again if what the node has sent since it was asked may have been lost. */
  async #watch(node: NodeId, stream: StreamId): Promise<WatchedPosition> {
    const { prefix, sessionId } = this.agents.sessionOf(stream);
    for (;;) {
      const answer = await this.calls.ask(node, watchQuestion(prefix, sessionId));
      if (this.feeds.noteLast(node, answer.n)) return answer;
    }
  }

  #noteGap(): void {
    this.feeds.attachAgain();
    void this.#tellChanged(null);
    this.agents.recover();
  }

  #noteRenewal(): void {
    this.#report();
    const left = this.#departures.look(this.membership.living);
    if (left.length > 0) {
      this.calls.forgetLost(left);
      this.relay.forget(left);
    }
    this.#renewals += 1;
    const isDue = this.#renewals % CHECK_EVERY === 0;
    if (left.length > 0 || isDue) this.agents.recover();
    if (isDue) void this.#tellChanged(null);
    if (isDue) this.#versions.look(this.agentVersions(), this.others);
    if (left.length > 0 || isDue || !this.#link.isUp) void this.#check();
  }

  #report(): void {
    this.membership.report({
      ...(this.address !== undefined && { address: this.address }),
      isDraining: this.isDraining,
      agents: this.agentVersions(),
      load: this.agents.load,
    });
  }

  async #check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      await this.feeds.check();
    } catch (err) {
      this.#log.debug({ err }, 'the places of sessions could not be read');
    } finally {
      this.#checking = false;
    }
  }

  async #tellChanged(stream: StreamId | null): Promise<void> {
    await Promise.all([...this.#onChanged].map((listener) => listener(stream)));
  }
}
