import type { AgentId, AgentVersion } from '../../core/agent-description.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  type LivingNode,
  type Membership,
  type NodeId,
  SessionElsewhereError,
  type StreamPlace,
} from '../../ports/membership.ts';
import type { NodeLink } from '../../ports/node-link.ts';
import { nodeTopic } from '../../ports/peers.ts';
import type { Clock } from '../../timing/clock.ts';
import { type ClusterAgent, ClusterAgents } from './cluster-agents.ts';
import { Departures } from './departures.ts';
import { GatheredStatements } from './gathered-statements.ts';
import { ALL_NODES, type Announcement, nodeSubject, type SessionMessage } from './node-messages.ts';
import { NodeMessenger } from './node-messenger.ts';
import {
  type SessionQuestion,
  type WatchedPosition,
  type WatchQuestion,
  watchQuestion,
} from './node-questions.ts';
import { RemoteFeeds } from './remote-feeds.ts';
import { SessionAnnouncements } from './session-announcements.ts';
import { SignalRelay } from './signal-relay.ts';
import { VersionWatch } from './version-watch.ts';

/** After so many renewals of its lease, a node looks for changes that it was not told of. */
const CHECK_EVERY = 4;
/** Nodes tell each other at once that they come or go, so that no node learns it only with its next renewal. */
const JOINED = nodeTopic<null, void>('node.joined');
const LEAVING = nodeTopic<null>('node.leaving');
const REMOVED = nodeTopic<null>('node.removed');
const CHANGED = nodeTopic<StreamId, void>('stream.changed');

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
export class Cluster implements AsyncDisposable {
  readonly membership: Membership;
  readonly messenger: NodeMessenger;
  readonly relay: SignalRelay;
  readonly feeds: RemoteFeeds;
  readonly agents = new ClusterAgents();
  #address: string | undefined;
  #agentVersions: () => Readonly<Record<AgentId, AgentVersion>> = () => ({});
  readonly #link: NodeLink;
  readonly #log: Logger;
  readonly #announcements: SessionAnnouncements;
  readonly #versions: VersionWatch;
  readonly #releases: GatheredStatements<void>;
  readonly #places: GatheredStatements<ReadonlyMap<StreamId, StreamPlace>>;
  readonly #onChanged = new Set<(stream: StreamId | null) => Promise<void>>();
  readonly #departures: Departures;
  /** The nodes that this node has removed, because their leases had ended. */
  readonly #removed = new Set<NodeId>();
  #isDraining = false;
  #renewals = 0;
  #isChecking = false;
  readonly #stops: (() => void)[];

  constructor({ membership, link, store, log, clock }: ClusterDeps) {
    this.membership = membership;
    this.#link = link;
    this.#log = log;
    this.#versions = new VersionWatch(log);
    this.#releases = new GatheredStatements((streams) => membership.release(streams));
    this.#places = new GatheredStatements((streams) => membership.places(streams));
    this.#departures = new Departures(log, membership.living);
    this.messenger = new NodeMessenger({
      link,
      membership,
      log,
      clock,
      admits: (from) => this.#admits(from),
      hear: (message) => this.#hear(message),
      answer: (question, from) => this.#answer(question, from),
    });
    const { messenger } = this;
    const { outbox } = messenger;
    this.#announcements = new SessionAnnouncements(outbox, membership.self);
    this.relay = new SignalRelay({ outbox, self: membership.self });
    this.feeds = this.#remoteFeeds(store);
    messenger.onAsked(JOINED, () => membership.refresh());
    messenger.onAsked(CHANGED, (stream) => this.#tellChanged(stream));
    messenger.onTold(LEAVING, () => void membership.refresh());
    // A node without the database would keep its clients waiting. A node that stops has already given up its sessions.
    messenger.onTold(REMOVED, () => {
      if (!this.isDraining) membership.lose();
    });
    this.#stops = [
      link.onGap(() => this.#noteGap()),
      membership.onRenewed(() => this.#noteRenewal()),
      membership.onRemoved((nodes) => {
        for (const node of nodes) {
          this.#removed.add(node);
          messenger.tellOne(node, REMOVED, null);
        }
      }),
    ];
  }

  /** @param agentVersions the agents that this node serves. The others are told of them with the next renewal of the lease. */
  serves(agentVersions: () => Readonly<Record<AgentId, AgentVersion>>): void {
    this.#agentVersions = agentVersions;
  }

  /** @param address as `host:port`. The others are told of it with the next renewal of the lease. */
  listensAt(address: string): void {
    this.#address = address;
  }

  /** An agent of this node can be asked now. Resolves when the others know it, or have not answered in time. */
  async introduce(): Promise<void> {
    await this.messenger.askAll(JOINED, null);
  }

  /** Tells the others that this node takes no more sessions. */
  async leave(): Promise<void> {
    this.#isDraining = true;
    this.#report();
    await this.membership.refresh();
    this.messenger.tell(LEAVING, null);
  }

  /** Gives up a session, for another node to go on with. @param head seq of its last event. */
  async giveUp(stream: StreamId, head: number): Promise<void> {
    this.feeds.disown(stream, head);
    this.relay.end(stream);
    await this.#releases.run(stream);
    this.announce('released', stream);
  }

  /** Whether the link to the other nodes is down. */
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

  /** Whether this node takes no more sessions. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get others(): LivingNode[] {
    return this.messenger.others;
  }

  /** Tells the others, together with all that is announced in this turn of the event loop. */
  announce(type: Announcement['type'], stream: StreamId): void {
    this.#announcements.add(type, stream);
  }

  /** A stream of the service has new events. Resolves when the nodes that answer in time have read them. */
  async changed(stream: StreamId): Promise<void> {
    await this.messenger.askAll(CHANGED, stream);
  }

  /** @param listener reads what another node has appended to the stream. Null: perhaps to any stream of the service. */
  onChanged(listener: (stream: StreamId | null) => Promise<void>): void {
    this.#onChanged.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#announcements[Symbol.dispose]();
    this.relay[Symbol.dispose]();
    this.messenger[Symbol.dispose]();
    await this.#link[Symbol.asyncDispose]();
  }

  #admits(from: NodeId): boolean {
    // The first REMOVED message may have been lost.
    if (this.#removed.has(from)) this.messenger.tellOne(from, REMOVED, null);
    return !this.#departures.has(from);
  }

  #remoteFeeds(store: Pick<EventStore, 'pages'>): RemoteFeeds {
    const { membership, messenger, agents } = this;
    const from = membership.self;
    return new RemoteFeeds({
      membership,
      watch: (node, stream) => this.#watch(node, stream),
      read: async (stream, afterSeq, limit) => {
        for await (const page of store.pages(stream, afterSeq, limit)) return agents.signalsOf(stream, page);
        return [];
      },
      sessionOf: (stream) => agents.sessionOf(stream).sessionId,
      tell: (stream, signal) => agents.sessionOf(stream).agent.tell(signal),
      want: (streams) => messenger.publish(ALL_NODES, { type: 'wanted', from, streams }),
      unwatch: (node, streams) => {
        const subject = node === null ? ALL_NODES : nodeSubject(node);
        messenger.publish(subject, { type: 'unwatch', from, streams });
      },
      onClaimed: (stream, owner) => this.#noteClaim(stream, owner),
      onError: (stream, err) =>
        this.#log.debug({ stream, err }, 'a session of another node cannot be heard now'),
    });
  }

  #hear(message: SessionMessage): void {
    switch (message.type) {
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
      default:
        message satisfies never;
    }
  }

  async #answer(question: SessionQuestion, from: NodeId): Promise<unknown> {
    const agent = this.agents.withPrefix(question.prefix);
    if (question.type === 'request') return agent.request(question.name, question.request, question.context);
    return this.#answerWatch(agent, question, from);
  }

  /**
   * The node is sent the signals from here on, and so hears of a deletion that comes before the position. Which session the
   * position is of is looked up in between.
   */
  async #answerWatch(
    agent: ClusterAgent,
    { prefix, sessionId }: WatchQuestion,
    from: NodeId,
  ): Promise<WatchedPosition> {
    const stream = prefix + sessionId;
    const watched = this.relay.watch(stream, from);
    try {
      const began = await this.#beganHere(stream);
      const position = await agent.position(sessionId);
      return { ...position, ...watched, ...(began !== undefined && { began }) };
    } catch (error) {
      if (!watched.wasWatched) this.relay.unwatch([stream], from);
      throw error;
    }
  }

  /** When the session of this node began. Undefined: the log does not have it, or cannot be read now. */
  async #beganHere(stream: StreamId): Promise<number | undefined> {
    const { membership } = this;
    const wasOwn = membership.owns(stream);
    try {
      const place = (await this.#places.run(stream)).get(stream);
      const isElsewhere = place ? place.owner !== membership.self : !wasOwn;
      if (isElsewhere) throw new SessionElsewhereError(stream, place?.owner ?? null);
      return place?.began;
    } catch (error) {
      if (!wasOwn || error instanceof SessionElsewhereError) throw error;
      return undefined;
    }
  }

  #noteClaim(stream: StreamId, owner: NodeId): void {
    // This node has presumed that the session is new, but has recorded nothing in it.
    if (this.membership.owns(stream)) {
      const { agent, sessionId } = this.agents.sessionOf(stream);
      agent.lost(sessionId);
    } else {
      // If the session was empty here until it left memory, its feed still takes this node for the owner.
      this.feeds.loseOwn(stream);
    }
    this.feeds.claimed(stream, owner);
  }

  /** Asks again if a message that the node has sent meanwhile may have been lost. */
  async #watch(node: NodeId, stream: StreamId): Promise<WatchedPosition> {
    const { prefix, sessionId } = this.agents.sessionOf(stream);
    for (;;) {
      const answer = await this.messenger.ask(node, watchQuestion(prefix, sessionId));
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
      this.messenger.forgetLost(left);
      this.relay.forget(left);
    }
    this.#renewals += 1;
    const isDue = this.#renewals % CHECK_EVERY === 0;
    if (left.length > 0 || isDue) this.agents.recover();
    if (isDue) void this.#tellChanged(null);
    if (isDue) this.#versions.look(this.#agentVersions(), this.others);
    if (left.length > 0 || isDue || !this.#link.isUp) void this.#check();
  }

  #report(): void {
    this.membership.report({
      ...(this.#address !== undefined && { address: this.#address }),
      isDraining: this.isDraining,
      agents: this.#agentVersions(),
      load: this.agents.load,
    });
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      await this.feeds.check();
    } catch (err) {
      this.#log.debug({ err }, 'the places of sessions could not be read');
    } finally {
      this.#isChecking = false;
    }
  }

  async #tellChanged(stream: StreamId | null): Promise<void> {
    await Promise.all([...this.#onChanged].map((listener) => listener(stream)));
  }
}
