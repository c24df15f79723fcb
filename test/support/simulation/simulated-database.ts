import type { StreamId } from '../../../src/core/log/streams.ts';
import type { LivingNode, NodeId, NodeReport, StreamPlace } from '../../../src/ports/membership.ts';
import type { AppendRequest, Refusal } from '../../../src/stored-log/append-request.ts';
import { EPOCH } from './simulated-time.ts';
import type { World } from './world.ts';

export const LEASE_MS = 2_000;
export const FIRST_EPOCH = 0;
const NO_REPORT: NodeReport = { isDraining: false, load: { sessions: 0, turns: 0, waiting: 0 } };

export interface Row {
  readonly time: number;
  readonly data: string;
}

export interface StoredStream {
  readonly id: StreamId;
  readonly rows: Row[];
  readonly createdAt: number;
  updatedAt: number;
  open: boolean;
  title: string | null | undefined;
  owner: NodeId | null;
  epoch: number;
  /** When it was erased. Infinity: it is there. */
  erasedAt: number;
}

interface NodeRow {
  readonly since: number;
  leaseEnd: number;
  report: NodeReport;
}

/** The row of a node is gone: nothing of it is stored any more. */
export class Fenced extends Error {}

/**
 * The database of a cluster: what is stored, at once and as a whole. Its rules are those of the statements of the real one.
 * It notes who has done what, whether or not it refuses it.
 */
export class SimulatedDatabase {
  /** Whether it refuses what a node appends that has lost its lease, or the session. */
  isFencing = true;
  /** How many events it leaves out when it copies the events of a fork. */
  lacksOfForks = 0;
  readonly streams = new Map<StreamId, StoredStream>();
  /** All sessions that there ever were, also those that were erased. */
  readonly lives: StoredStream[] = [];
  readonly nodes = new Map<NodeId, NodeRow>();
  readonly #world: World;
  #lastNode = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Of the database, by which leases end. */
  get now(): number {
    return EPOCH + this.#world.now;
  }

  join(): NodeId {
    this.#lastNode += 1;
    this.nodes.set(this.#lastNode, { since: this.now, leaseEnd: this.now + LEASE_MS, report: NO_REPORT });
    return this.#lastNode;
  }

  /** @param mayRemove whether those whose lease has ended are removed. @returns null if the node is gone itself. */
  renew(
    node: NodeId,
    report: NodeReport,
    mayRemove: boolean,
  ): { readonly living: ReadonlyMap<NodeId, LivingNode>; readonly removed: readonly NodeId[] } | null {
    const own = this.nodes.get(node);
    if (!own) return null;
    own.leaseEnd = this.now + LEASE_MS;
    own.report = report;
    const removed = mayRemove
      ? [...this.nodes].flatMap(([other, { leaseEnd }]) => (leaseEnd <= this.now ? [other] : []))
      : [];
    for (const other of removed) this.#remove(other);
    const living = new Map(
      [...this.nodes].map(([nodeId, { since, leaseEnd, report: told }]) => [
        nodeId,
        {
          nodeId,
          name: `node ${nodeId}`,
          version: '1',
          since,
          leaseMs: Math.max(0, leaseEnd - this.now),
          ...told,
        },
      ]),
    );
    return { living, removed };
  }

  leave(node: NodeId): void {
    this.nodes.delete(node);
  }

  append(node: NodeId, epochs: ReadonlyMap<StreamId, number>, batch: readonly AppendRequest[]): Refusal[] {
    this.require(node);
    const refused: Refusal[] = [];
    for (const [index, request] of batch.entries()) {
      const actual = this.#appendOne(node, epochs.get(request.sessionId), request);
      if (actual !== null) refused.push({ index, actual });
    }
    return refused;
  }

  erase(node: NodeId, epochs: ReadonlyMap<StreamId, number>, streamIds: readonly StreamId[]): void {
    this.require(node);
    for (const id of streamIds) {
      const stream = this.streams.get(id);
      if (!stream || !isOwn(stream, node, epochs.get(id))) continue;
      this.streams.delete(id);
      stream.erasedAt = this.now;
    }
  }

  claim(node: NodeId, streamId: StreamId): { owner: NodeId | null; epoch: number } | null {
    const stream = this.streams.get(streamId);
    if (!stream) return null;
    if (stream.owner !== node && this.#ownerOf(stream) === null && this.nodes.has(node)) {
      stream.owner = node;
      stream.epoch += 1;
      this.#world.note(`node ${node} owns ${streamId} in epoch ${stream.epoch}`);
    }
    return { owner: this.#ownerOf(stream), epoch: stream.epoch };
  }

  /** @returns also the open streams that the node owned before. */
  claimOrphans(
    node: NodeId,
    limit: number,
  ): { claimed: { streamId: StreamId; epoch: number }[]; own: StreamId[] } {
    if (!this.nodes.has(node)) return { claimed: [], own: [] };
    const open = [...this.streams].filter(([id, stream]) => stream.open && !id.startsWith('~'));
    const own = open.flatMap(([id, stream]) => (stream.owner === node ? [id] : []));
    const orphans = open.filter(([, stream]) => this.#ownerOf(stream) === null);
    const claimed = orphans.slice(0, limit).map(([streamId, stream]) => {
      stream.owner = node;
      stream.epoch += 1;
      this.#world.note(`node ${node} owns ${streamId} in epoch ${stream.epoch}`);
      return { streamId, epoch: stream.epoch };
    });
    return { claimed, own };
  }

  release(node: NodeId, streamIds: readonly StreamId[]): void {
    for (const id of streamIds) {
      const stream = this.streams.get(id);
      if (stream?.owner === node) stream.owner = null;
    }
  }

  places(streamIds: readonly StreamId[]): ReadonlyMap<StreamId, StreamPlace> {
    return new Map(
      streamIds.flatMap((id) => {
        const stream = this.streams.get(id);
        if (!stream) return [];
        const { rows, createdAt: began } = stream;
        return [[id, { owner: this.#ownerOf(stream), head: rows.length, began }]];
      }),
    );
  }

  begin(streamId: StreamId, rows: Row[], owner: NodeId | null, title: string | null | undefined): void {
    const { now } = this;
    const stream = {
      id: streamId,
      rows,
      createdAt: Math.floor(now),
      updatedAt: now,
      open: false,
      title,
      owner,
      epoch: FIRST_EPOCH,
      erasedAt: Infinity,
    };
    this.streams.set(streamId, stream);
    if (!streamId.startsWith('~')) this.lives.push(stream);
  }

  /** Throws if the node is gone. */
  require(node: NodeId): void {
    if (this.isFencing && !this.nodes.has(node)) throw new Fenced();
  }

  /** @returns null, or the seq at which the stream is. */
  #appendOne(
    node: NodeId,
    epoch: number | undefined,
    { sessionId, expectedSeq, data, open, title }: AppendRequest,
  ): number | null {
    const stream = this.streams.get(sessionId);
    const actual = stream?.rows.length ?? 0;
    const mayAppend = !stream || isOwn(stream, node, epoch);
    if (actual !== expectedSeq) return actual;
    if (!mayAppend && this.isFencing) return -1;
    if (!mayAppend || !this.nodes.has(node))
      this.#world.faults.push(
        `node ${node} has appended to ${sessionId} in epoch ${epoch}, which node ${stream?.owner} owns in epoch ${stream?.epoch}`,
      );
    if (!stream && data.length === 0) return null;
    const rows = data.map((json) => ({ time: this.now, data: json }));
    if (!stream) this.begin(sessionId, [], epoch === undefined ? null : node, null);
    const target = this.streams.get(sessionId);
    if (!target) throw new Error(`${sessionId} is not there`);
    target.rows.push(...rows);
    target.updatedAt = this.now;
    target.open = open ?? target.open;
    target.title = title === undefined ? target.title : title;
    return null;
  }

  #remove(node: NodeId): void {
    this.nodes.delete(node);
    this.#world.note(`node ${node} has lost its lease`);
  }

  #ownerOf({ owner }: StoredStream): NodeId | null {
    return owner !== null && this.nodes.has(owner) ? owner : null;
  }
}

/** @param epoch in which the node owns the stream. Undefined: the stream is nobody's. */
function isOwn(stream: StoredStream, node: NodeId, epoch: number | undefined): boolean {
  return epoch === undefined || (stream.owner === node && stream.epoch === epoch);
}
