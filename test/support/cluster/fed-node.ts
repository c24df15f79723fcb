import { SimulatedClock } from 'xstate';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import { type LivingNode, type NodeId, SessionElsewhereError } from '../../../src/ports/membership.ts';
import {
  ALL_NODES,
  type Announcement,
  encodeMessage,
  nodeSubject,
  parseMessage,
} from '../../../src/runtime/cluster/node-messages.ts';
import { RemoteFeeds } from '../../../src/runtime/cluster/remote-feeds.ts';
import { SignalRelay } from '../../../src/runtime/cluster/signal-relay.ts';
import { FedSession } from './fed-session.ts';
import { type MemoryLink, MemoryNetwork } from './memory-link.ts';

/** For so long pieces of replies are gathered. */
const GATHER_MS = 5;

/** The node whose clients listen. */
export const LISTENER: NodeId = 1;

/** A node with feeds, the nodes that own the sessions, and a network, a log and a clock that the test drives. */
export class FedNode {
  readonly network = new MemoryNetwork({ isManual: true });
  readonly clock = new SimulatedClock();
  readonly feeds: RemoteFeeds;
  readonly sessions = new Map<string, FedSession>();
  /** What the clients were told. */
  readonly told = new Map<string, SessionSignal[]>();
  readonly errors: unknown[] = [];
  readonly living = new Map<NodeId, LivingNode>();
  /** Whether the owners say when their sessions began, as all releases do since they can. */
  saysBegan = true;
  /** How often a node was asked to be watched. */
  watches = 0;
  /** How often it was looked up where sessions are. */
  placings = 0;
  /** How often the log was read. */
  reads = 0;
  /** Each of these may throw: what they stand for cannot be reached then. */
  beforeWatch: () => Promise<void> = async () => undefined;
  beforeRead: () => Promise<void> = async () => undefined;
  beforePlaces: () => Promise<void> = async () => undefined;
  readonly #links = new Map<NodeId, MemoryLink>();
  readonly #relays = new Map<NodeId, SignalRelay>();
  readonly #soon: (() => void)[] = [];

  /** @param owners the nodes that may own sessions. */
  constructor(...owners: NodeId[]) {
    for (const node of [LISTENER, ...owners]) this.#join(node);
    this.feeds = new RemoteFeeds({
      membership: {
        self: LISTENER,
        living: this.living,
        owns: () => false,
        places: async (streams) => {
          this.placings += 1;
          await this.beforePlaces();
          const found = streams.flatMap((stream) => this.sessions.get(stream) ?? []);
          return new Map(found.flatMap(({ stream, head, place }) => (head > 0 ? [[stream, place]] : [])));
        },
      },
      want: (streams) => this.#publish(LISTENER, ALL_NODES, { type: 'wanted', from: LISTENER, streams }),
      unwatch: (node, streams) => {
        const subject = node === null ? ALL_NODES : nodeSubject(node);
        this.#links
          .get(LISTENER)
          ?.publish(subject, encodeMessage({ type: 'unwatch', from: LISTENER, streams }));
      },
      watch: (node, stream) => this.#watch(node, stream),
      read: async (stream, afterSeq, limit) => {
        this.reads += 1;
        await this.beforeRead();
        return this.session(stream).read(afterSeq, limit);
      },
      sessionOf: (stream) => stream,
      tell: (stream, signal) => this.heard(stream).push(signal),
      // As the cluster does where nothing goes on in the session.
      onClaimed: (stream, owner) => {
        this.feeds.loseOwn(stream);
        this.feeds.claimed(stream, owner);
      },
      onError: (_, error) => this.errors.push(error),
    });
  }

  /** The session; a new one is nobody's, until its first event. */
  session(stream: string, owner: NodeId | null = null): FedSession {
    const known = this.sessions.get(stream);
    if (known) return known;
    const session = new FedSession(stream, owner, (from, signal) => this.relay(from).relay(stream, signal));
    this.sessions.set(stream, session);
    return session;
  }

  heard(stream: string): SessionSignal[] {
    const signals = this.told.get(stream) ?? [];
    this.told.set(stream, signals);
    return signals;
  }

  relay(node: NodeId): SignalRelay {
    const relay = this.#relays.get(node);
    if (!relay) throw new Error(`there is no node ${node}`);
    return relay;
  }

  announce(type: Announcement['type'], from: NodeId, stream: string): void {
    this.#publish(from, ALL_NODES, { type, from, streams: [stream] });
  }

  /** Another node owns the session from now on, and says so. */
  move(session: FedSession, owner: NodeId): void {
    const before = session.owner;
    if (before !== null) {
      this.relay(before).end(session.stream);
      // It says so when it has told the database, a moment later.
      this.endTurn();
      this.announce('released', before, session.stream);
    }
    session.owner = owner;
    this.announce('claimed', owner, session.stream);
  }

  /** Ends this turn of the event loop at all nodes, some time later: what they have to send is sent. */
  endTurn(): void {
    this.clock.increment(GATHER_MS);
    for (const work of this.#soon.splice(0)) work();
  }

  /** Lets one round of texts arrive, and what follows from it. */
  async round(): Promise<void> {
    this.endTurn();
    this.network.deliver();
    await quiet();
  }

  /** Lets everything arrive. */
  async settle(): Promise<void> {
    do await this.round();
    while (this.network.size > 0 || this.#soon.length > 0);
    await quiet();
  }

  #join(node: NodeId): void {
    const load = { sessions: 0, turns: 0, waiting: 0 };
    const about = { name: `node ${node}`, version: '1', since: 0, leaseMs: 1, isDraining: false };
    this.living.set(node, { nodeId: node, ...about, load });
    const link = this.network.connect();
    this.#links.set(node, link);
    const outbox = {
      publish: (subject: string, text: string) => link.publish(subject, text),
      soon: (work: () => void) => void this.#soon.push(work),
    };
    this.#relays.set(node, new SignalRelay({ outbox, self: node, clock: this.clock }));
    for (const subject of [nodeSubject(node), ALL_NODES])
      link.subscribe(subject, (text) => this.#hear(node, text));
  }

  #publish(from: NodeId, subject: string, message: Announcement): void {
    this.#links.get(from)?.publish(subject, encodeMessage(message));
  }

  /** As the cluster does. */
  #hear(node: NodeId, text: string): void {
    const message = parseMessage(text);
    if (!message || message.from === node) return;
    if (message.type === 'wanted')
      for (const stream of message.streams) this.relay(node).watch(stream, message.from);
    if (message.type === 'unwatch') this.relay(node).unwatch(message.streams, message.from);
    if (node !== LISTENER) return;
    if (message.type === 'feed') this.feeds.hear(message.from, message.n, message.items);
    if (message.type === 'released') this.feeds.released(message.streams, message.from);
    if (message.type === 'claimed')
      for (const stream of message.streams) this.feeds.claimed(stream, message.from);
  }

  async #watch(node: NodeId, stream: string) {
    this.watches += 1;
    await this.beforeWatch();
    const { owner } = this.session(stream);
    if (owner !== node) throw new SessionElsewhereError(stream, owner);
    const { n, wasWatched } = this.relay(node).watch(stream, LISTENER);
    const { head, place } = this.session(stream);
    const began = this.saysBegan && head > 0 && { began: place.began };
    const position = { ...this.session(stream).position(), wasWatched, n, ...began };
    await quiet();
    this.feeds.noteLast(node, n);
    return position;
  }
}

/** Everything that was resolved has been taken. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
