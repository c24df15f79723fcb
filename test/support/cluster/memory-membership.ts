import type { StreamId } from '../../../src/core/log/streams.ts';
import type { Unsubscribe } from '../../../src/ports/bus.ts';
import { type EventStore, StaleVersionError } from '../../../src/ports/event-store.ts';
import {
  type LivingNode,
  type Membership,
  type NodeId,
  type NodeReport,
  SessionElsewhereError,
  type StreamPlace,
} from '../../../src/ports/membership.ts';
import { keptOpen } from '../log/crashing-store.ts';

const LEASE_MS = 2_000;
const FIRST_EPOCH = 0;

interface Ownership {
  owner: NodeId | null;
  epoch: number;
}

interface Row extends LivingNode {
  leaseEnd: number;
}

/** The database of a cluster in memory: the log, the leases of the nodes and the owners of the streams. Its clock is the test's. */
export class MemoryClusterLog {
  /** Milliseconds since the epoch. */
  now = 0;
  readonly log: EventStore;
  readonly rows = new Map<NodeId, Row>();
  readonly owners = new Map<StreamId, Ownership>();
  #lastNode = 0;

  constructor(log: EventStore) {
    this.log = log;
  }

  join(): MemoryMembership {
    this.#lastNode += 1;
    const self = this.#lastNode;
    this.rows.set(self, {
      nodeId: self,
      name: `node ${self}`,
      version: '1',
      since: this.now,
      leaseMs: LEASE_MS,
      isDraining: false,
      load: { sessions: 0, turns: 0, waiting: 0 },
      leaseEnd: this.now + LEASE_MS,
    });
    return new MemoryMembership(this, self);
  }

  /** The owner, if it lives. */
  ownerOf(streamId: StreamId): NodeId | null {
    const owner = this.owners.get(streamId)?.owner ?? null;
    return owner !== null && this.rows.has(owner) ? owner : null;
  }

  /** The given node owns the stream now, in a new epoch. */
  give(streamId: StreamId, owner: NodeId): number {
    const epoch = (this.owners.get(streamId)?.epoch ?? FIRST_EPOCH) + 1;
    this.owners.set(streamId, { owner, epoch });
    return epoch;
  }
}

/** One node of it. */
export class MemoryMembership implements Membership {
  readonly self: NodeId;
  readonly cluster = 'memory';
  readonly epochs = new Map<StreamId, number>();
  living: ReadonlyMap<NodeId, LivingNode> = new Map();
  /** Calls that ask the database reject with this. */
  failure: Error | null = null;
  readonly #shared: MemoryClusterLog;
  readonly #listeners = new Set<() => void>();
  readonly #removalListeners = new Set<(nodes: readonly NodeId[]) => void>();
  /** Whether another node has said that it has removed this one. */
  isLost = false;
  #heldUntil: number;
  #report: NodeReport | null = null;

  constructor(shared: MemoryClusterLog, self: NodeId) {
    this.#shared = shared;
    this.self = self;
    this.#heldUntil = shared.now + LEASE_MS;
    this.#read();
  }

  get isHeld(): boolean {
    return this.#shared.now < this.#heldUntil;
  }

  report(report: NodeReport): void {
    this.#report = report;
  }

  /** Removes those whose lease has ended, as the first node that looks does. */
  async refresh(): Promise<void> {
    const { rows, now } = this.#shared;
    const own = rows.get(this.self);
    if (!own) return;
    rows.set(this.self, { ...own, ...this.#report, leaseEnd: now + LEASE_MS });
    this.#heldUntil = now + LEASE_MS;
    const ended = [...rows.values()].flatMap(({ nodeId, leaseEnd }) => (leaseEnd <= now ? [nodeId] : []));
    for (const node of ended) rows.delete(node);
    this.#read();
    if (ended.length > 0) for (const listener of this.#removalListeners) listener(ended);
    for (const listener of this.#listeners) listener();
  }

  onRenewed(listener: () => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onRemoved(listener: (nodes: readonly NodeId[]) => void): Unsubscribe {
    this.#removalListeners.add(listener);
    return () => this.#removalListeners.delete(listener);
  }

  lose(): void {
    this.isLost = true;
  }

  async claim(streamId: StreamId): Promise<void> {
    if (this.epochs.has(streamId)) return;
    this.#requireDatabase();
    if ((await this.#headOf(streamId)) === 0) return this.presumeNew(streamId);
    const owner = this.#shared.ownerOf(streamId);
    if (owner !== null && owner !== this.self) throw new SessionElsewhereError(streamId, owner);
    const known = this.#shared.owners.get(streamId);
    const isSame = owner === this.self && known !== undefined;
    this.epochs.set(streamId, isSame ? known.epoch : this.#shared.give(streamId, this.self));
  }

  owns(streamId: StreamId): boolean {
    return this.epochs.has(streamId);
  }

  presumeNew(streamId: StreamId): void {
    if (!this.epochs.has(streamId)) this.epochs.set(streamId, FIRST_EPOCH);
  }

  forget(streamId: StreamId): void {
    this.epochs.delete(streamId);
  }

  async claimOrphans(
    prefix: string,
    limit: number,
    isKnown: (stream: StreamId) => boolean,
  ): Promise<StreamId[]> {
    this.#requireDatabase();
    const open = await this.#shared.log.sessions({ open: true });
    const isOfAgent = (stream: string): boolean =>
      stream.startsWith(prefix) && (prefix !== '' || !stream.startsWith('~'));
    const streams = open.map(({ sessionId }) => sessionId).filter(isOfAgent);
    const isLeft = (stream: StreamId): boolean =>
      this.#shared.ownerOf(stream) === this.self && !isKnown(stream);
    const left = streams.filter(isLeft).slice(0, limit);
    const orphans = streams.filter((stream) => this.#shared.ownerOf(stream) === null).slice(0, limit);
    for (const stream of orphans) this.epochs.set(stream, this.#shared.give(stream, this.self));
    return [...orphans, ...left];
  }

  async release(streamIds: readonly StreamId[]): Promise<void> {
    this.#requireDatabase();
    for (const stream of streamIds) {
      this.epochs.delete(stream);
      const known = this.#shared.owners.get(stream);
      if (known?.owner === this.self) known.owner = null;
    }
  }

  async places(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPlace>> {
    this.#requireDatabase();
    const places = new Map<StreamId, StreamPlace>();
    for (const stream of streamIds) {
      const [session] = await this.#shared.log.sessions({ sessionId: stream });
      if (!session) continue;
      const { head, createdAt: began } = session;
      places.set(stream, { owner: this.#shared.ownerOf(stream), head, began });
    }
    return places;
  }

  /** The log as this node writes it: refuses appends without a lease, and those to streams that it does not own. */
  get store(): EventStore {
    const { log } = this.#shared;
    return {
      ...keptOpen(log),
      append: async (streamId, expectedSeq, ...append) => {
        this.#requireLease();
        this.#requireOwn(streamId, expectedSeq);
        const begins = expectedSeq === 0 && this.epochs.has(streamId);
        const appended = await log.append(streamId, expectedSeq, ...append);
        if (begins && appended.length > 0)
          this.#shared.owners.set(streamId, { owner: this.self, epoch: FIRST_EPOCH });
        return appended;
      },
      fork: async (from, at, to, ...fork) => {
        this.#requireLease();
        await log.fork(from, at, to, ...fork);
        const owner = this.epochs.has(to) ? this.self : null;
        this.#shared.owners.set(to, { owner, epoch: FIRST_EPOCH });
      },
      erase: async (...streamIds) => {
        this.#requireLease();
        await log.erase(...streamIds);
        for (const stream of streamIds) this.#shared.owners.delete(stream);
      },
    };
  }

  #requireOwn(streamId: StreamId, expectedSeq: number): void {
    const epoch = this.epochs.get(streamId);
    const known = this.#shared.owners.get(streamId);
    if (epoch === undefined || known === undefined) return;
    if (known.owner !== this.self || known.epoch !== epoch)
      throw new StaleVersionError(streamId, expectedSeq, -1);
  }

  #requireLease(): void {
    if (!this.#shared.rows.has(this.self)) throw new Error(`node ${this.self} has lost its lease`);
  }

  #requireDatabase(): void {
    if (this.failure) throw this.failure;
  }

  async #headOf(sessionId: StreamId): Promise<number> {
    return (await this.#shared.log.sessions({ sessionId }))[0]?.head ?? 0;
  }

  #read(): void {
    const { rows, now } = this.#shared;
    this.living = new Map(
      [...rows].map(([node, { leaseEnd, ...living }]) => [node, { ...living, leaseMs: leaseEnd - now }]),
    );
  }
}
