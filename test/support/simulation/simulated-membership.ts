import type { StreamId } from '../../../src/core/log/streams.ts';
import type { Unsubscribe } from '../../../src/ports/bus.ts';
import {
  type LivingNode,
  type Membership,
  type NodeId,
  type NodeReport,
  SessionElsewhereError,
  type StreamPlace,
} from '../../../src/ports/membership.ts';
import { fenced, type NodeDatabase } from './node-database.ts';
import { FIRST_EPOCH, LEASE_MS } from './simulated-database.ts';

const RENEW_MS = 500;

/** The lease of one node and its sessions, as the adapter of the real database keeps them. */
export class SimulatedMembership implements Membership {
  readonly self: NodeId;
  readonly cluster = 'simulated';
  readonly epochs = new Map<StreamId, number>();
  living: ReadonlyMap<NodeId, LivingNode> = new Map();
  readonly #database: NodeDatabase;
  readonly #listeners = new Set<() => void>();
  readonly #removalListeners = new Set<(nodes: readonly NodeId[]) => void>();
  #report: NodeReport = { isDraining: false, load: { sessions: 0, turns: 0, waiting: 0 } };
  #heldUntil: number;
  #renewedAt = performance.now();
  #steadySince = performance.now();
  #timer: NodeJS.Timeout | undefined;

  private constructor(database: NodeDatabase) {
    this.#database = database;
    this.self = database.node;
    this.#heldUntil = performance.now() + LEASE_MS;
  }

  static async join(database: NodeDatabase): Promise<SimulatedMembership> {
    const membership = new SimulatedMembership(database);
    await membership.refresh();
    return membership;
  }

  get isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  report(report: NodeReport): void {
    this.#report = report;
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.#renew();
    } catch {
      // It is tried again. What is asked meanwhile says why it fails.
    }
    this.#timer = setTimeout(() => void this.refresh(), RENEW_MS);
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
    this.#database.onFenced();
  }

  async claim(streamId: StreamId): Promise<void> {
    if (this.epochs.has(streamId)) return;
    const found = await this.#database.ask(`claim ${streamId}`, (database) => {
      const claimed = database.claim(this.self, streamId);
      return claimed && { ...claimed, isThere: database.nodes.has(this.self) };
    });
    if (found === null) return this.presumeNew(streamId);
    if (!found.isThere) {
      this.#database.onFenced();
      throw fenced();
    }
    if (found.owner !== this.self) throw new SessionElsewhereError(streamId, found.owner);
    this.epochs.set(streamId, found.epoch);
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
    _prefix: string,
    limit: number,
    isKnown: (stream: StreamId) => boolean,
  ): Promise<StreamId[]> {
    const { claimed, own } = await this.#database.ask('claim orphans', (database) =>
      database.claimOrphans(this.self, limit),
    );
    for (const { streamId, epoch } of claimed) this.epochs.set(streamId, epoch);
    const left = own.filter((streamId) => !isKnown(streamId)).slice(0, limit);
    return [...claimed.map(({ streamId }) => streamId), ...left];
  }

  async release(streamIds: readonly StreamId[]): Promise<void> {
    for (const stream of streamIds) this.epochs.delete(stream);
    await this.#database.ask(`release ${streamIds.join(', ')}`, (database) =>
      database.release(this.self, streamIds),
    );
  }

  places(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPlace>> {
    return this.#database.ask('read places', (database) => database.places(streamIds));
  }

  /** The process ends. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#database.ask('leave', (database) => database.leave(this.self));
  }

  async #renew(): Promise<void> {
    const asked = performance.now();
    const renewed = await this.#database.ask('renew the lease', (database) =>
      database.renew(this.self, this.#report, this.#mayRemove(asked)),
    );
    if (renewed === null) {
      this.#database.onFenced();
      return;
    }
    const { living, removed } = renewed;
    this.#heldUntil = asked + LEASE_MS;
    this.living = living;
    if (removed.length > 0) for (const listener of this.#removalListeners) listener(removed);
    for (const listener of this.#listeners) listener();
  }

  #mayRemove(asked: number): boolean {
    if (asked - this.#renewedAt > 2 * RENEW_MS) this.#steadySince = asked;
    this.#renewedAt = asked;
    return asked - this.#steadySince >= LEASE_MS;
  }
}
