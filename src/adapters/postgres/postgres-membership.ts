import { z } from 'zod';
import type { StreamId } from '../../core/log/streams.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import {
  type LivingNode,
  type Membership,
  type NodeId,
  type NodeReport,
  SessionElsewhereError,
  type StreamPlace,
} from '../../ports/membership.ts';
import type { Database } from './database.ts';
import type { NodeLease } from './node-lease.ts';
import { READING } from './postgres-errors.ts';
import { FIRST_EPOCH } from './postgres-event-store.ts';
import { SeenRenewals } from './seen-renewals.ts';
import { Bigint } from './stream-index.ts';

/** Added to the time that the lease of another node lasts, so that it has ended when it is looked at. */
const AFTER_LEASE_MS = 20;
const NO_LOAD: NodeReport = { isDraining: false, load: { sessions: 0, turns: 0, waiting: 0 } };

const Report = z.object({
  address: z.string().optional(),
  isDraining: z.boolean(),
  load: z.object({ sessions: z.int(), turns: z.int(), waiting: z.int() }),
  agents: z.record(z.string(), z.string()).optional(),
});
const NodeRow = z.object({
  node: Bigint,
  name: z.string(),
  version: z.string(),
  since: z.number(),
  report: z.string().nullable(),
  left_ms: z.number(),
  lease_end: z.number(),
});
const ClaimRow = z.object({ owner: Bigint.nullable(), epoch: z.int() });
const OrphanRow = z.object({ stream: z.string(), epoch: z.int().nullable() });
const PlaceRow = z.object({ stream: z.string(), head: z.int(), began: Bigint, owner: Bigint.nullable() });

/** The nodes that share a log in PostgreSQL, as rows beside it. */
export class PostgresMembership implements Membership {
  readonly self: NodeId;
  readonly cluster: string;
  readonly #database: Database;
  readonly #lease: NodeLease;
  /** Epochs of the sessions in memory. The appends name them. */
  readonly #epochs: Map<string, number>;
  #living: ReadonlyMap<NodeId, LivingNode> = new Map();
  #report: NodeReport = NO_LOAD;
  readonly #seen = new SeenRenewals();
  #renewedAt = -Infinity;
  /** Since when every renewal has come in time. */
  #steadySince = -Infinity;
  readonly #listeners = new Set<() => void>();
  readonly #removalListeners = new Set<(nodes: readonly NodeId[]) => void>();

  private constructor(database: Database, lease: NodeLease, epochs: Map<string, number>, cluster: string) {
    this.#database = database;
    this.#lease = lease;
    this.#epochs = epochs;
    this.self = lease.node;
    this.cluster = cluster;
  }

  /** @param epochs those of the streams that this node owns. The event store must use the same. */
  static async join(
    database: Database,
    lease: NodeLease,
    epochs: Map<string, number>,
  ): Promise<PostgresMembership> {
    const [row] = await database.rows({ text: `SELECT cluster FROM ${database.schema}.format` });
    const membership = new PostgresMembership(database, lease, epochs, String(row?.cluster));
    lease.renewBy(() => membership.#renew());
    await lease.renew();
    return membership;
  }

  get living(): ReadonlyMap<NodeId, LivingNode> {
    return this.#living;
  }

  get isHeld(): boolean {
    return this.#lease.isHeld;
  }

  report(report: NodeReport): void {
    this.#report = report;
  }

  refresh(): Promise<void> {
    return this.#lease.renew();
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
    this.#lease.lose();
  }

  async claim(streamId: StreamId): Promise<void> {
    if (this.#epochs.has(streamId)) return;
    const { schema } = this.#database;
    // Of two nodes at once, one waits for the row, and then finds that the other has it.
    const claim = {
      name: 'claim',
      text: `
        UPDATE ${schema}.streams SET owner = $2, epoch = epoch + 1
        WHERE stream = $1 AND owner IS DISTINCT FROM $2 AND ${this.#isNobodys}
          AND EXISTS (SELECT FROM ${schema}.nodes WHERE node = $2)`,
      values: [streamId, this.self],
    };
    const found = {
      name: 'owner',
      text: `SELECT owner, epoch FROM ${schema}.streams WHERE stream = $1`,
      values: [streamId],
    };
    const [row] = await this.#database.insist('claim a session in', async () => {
      const rows = await this.#database.rows(found);
      if (rows[0] === undefined || Number(rows[0].owner) === this.self) return rows;
      await this.#database.rows(claim);
      return this.#database.rows(found);
    });
    if (row === undefined) return this.presumeNew(streamId);
    const { owner, epoch } = ClaimRow.parse(row);
    // Either its owner has just given it up, or this node may claim nothing any more.
    if (owner === null)
      throw (await this.#isThere()) ? new SessionElsewhereError(streamId, null) : this.#lease.lose();
    if (owner !== this.self) throw new SessionElsewhereError(streamId, owner);
    this.#epochs.set(streamId, epoch);
  }

  /**
   * Whether a row of `streams` has no living owner. Not as a join: of a row that another node has just claimed, PostgreSQL
   * would look at the new version, and not again at what it was joined with.
   */
  get #isNobodys(): string {
    return `coalesce(owner, 0) <> ALL (ARRAY (SELECT node FROM ${this.#database.schema}.nodes))`;
  }

  async #isThere(): Promise<boolean> {
    const rows = await this.#database.insist(READING, () =>
      this.#database.rows({
        text: `SELECT FROM ${this.#database.schema}.nodes WHERE node = $1`,
        values: [this.self],
      }),
    );
    return rows.length > 0;
  }

  owns(streamId: StreamId): boolean {
    return this.#epochs.has(streamId);
  }

  presumeNew(streamId: StreamId): void {
    if (!this.#epochs.has(streamId)) this.#epochs.set(streamId, FIRST_EPOCH);
  }

  forget(streamId: StreamId): void {
    this.#epochs.delete(streamId);
  }

  async claimOrphans(
    prefix: string,
    limit: number,
    isKnown: (stream: StreamId) => boolean,
  ): Promise<StreamId[]> {
    const { schema } = this.#database;
    const isThere = `EXISTS (SELECT FROM ${schema}.nodes WHERE node = $1)`;
    const isOpen = `open AND starts_with(stream, $2) AND ($2 <> '' OR NOT starts_with(stream, '~'))`;
    // A claim whose answer was lost, and which is repeated, finds what it has claimed among the streams of this node.
    const rows = await this.#database.insist('claim sessions in', () =>
      this.#database.rows({
        text: `
          WITH claimed AS (
            UPDATE ${schema}.streams SET owner = $1, epoch = epoch + 1
            WHERE ${isThere} AND stream IN (
              SELECT stream FROM ${schema}.streams WHERE ${isOpen} AND ${this.#isNobodys}
              LIMIT $3 FOR UPDATE SKIP LOCKED)
            RETURNING stream, epoch)
          SELECT stream, epoch FROM claimed
          UNION ALL SELECT stream, NULL FROM ${schema}.streams
          WHERE ${isOpen} AND owner = $1 AND ${isThere}`,
        values: [this.self, prefix, limit],
      }),
    );
    const claimed: StreamId[] = [];
    const left: StreamId[] = [];
    for (const row of rows) {
      const { stream, epoch } = OrphanRow.parse(row);
      if (epoch !== null) {
        this.#epochs.set(stream, epoch);
        claimed.push(stream);
      } else if (left.length < limit && !isKnown(stream)) left.push(stream);
    }
    return [...claimed, ...left];
  }

  async release(streamIds: readonly StreamId[]): Promise<void> {
    if (streamIds.length === 0) return;
    for (const stream of streamIds) this.#epochs.delete(stream);
    await this.#database.insist('give up sessions in', () =>
      this.#database.rows({
        text: `
          UPDATE ${this.#database.schema}.streams SET owner = NULL
          WHERE owner = $1 AND stream = ANY ($2)`,
        values: [this.self, streamIds],
        mayBeLong: true,
      }),
    );
  }

  async places(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPlace>> {
    if (streamIds.length === 0) return new Map();
    const { schema } = this.#database;
    const rows = await this.#database.insist(READING, () =>
      this.#database.rows({
        name: 'places',
        text: `
          SELECT stream, head, created AS began, n.node AS owner FROM ${schema}.streams s
          LEFT JOIN ${schema}.nodes n ON n.node = s.owner
          WHERE stream = ANY ($1)`,
        values: [streamIds],
      }),
    );
    return new Map(
      rows.map((row) => {
        const { stream, ...place } = PlaceRow.parse(row);
        return [stream, place];
      }),
    );
  }

  /** Renews the lease, reads the others, and removes those whose lease has ended. Whoever comes first does that. */
  async #renew(): Promise<{ isHeld: boolean; nextMs: number; onHeld: () => void }> {
    const { leaseMs, renewMs } = this.#lease.times;
    const nodes = await this.#renewAndRead(leaseMs);
    const isHeld = nodes.some(({ node }) => node === this.self);
    const mayRemove = this.#mayRemove();
    this.#seen.note(nodes);
    const ended = nodes.filter(({ node, left_ms }) => node !== this.self && left_ms <= 0);
    const silent = ended.filter(({ node }) => mayRemove && this.#seen.sinceMs(node) >= this.#silenceMs);
    const removed = new Set(silent.length > 0 ? await this.#remove(silent.map(({ node }) => node)) : []);
    const living = nodes.filter(({ node }) => !removed.has(node));
    this.#living = new Map(living.map((row) => [row.node, this.#livingNode(row)]));
    const others = living.filter(({ node }) => node !== this.self);
    const leftMs = ({ node, left_ms }: z.infer<typeof NodeRow>) =>
      left_ms > 0 ? left_ms : this.#silenceMs - this.#seen.sinceMs(node);
    const soonest = Math.min(...others.map(leftMs).filter((ms) => ms > 0), renewMs);
    const onHeld = (): void => {
      for (const listener of this.#listeners) listener();
    };
    return { isHeld, nextMs: soonest + AFTER_LEASE_MS, onHeld };
  }

  /**
   * How long a node must have renewed nothing before it is removed. The clock of the database may be set forward, and then
   * all leases have ended for it at once. A node that is gone has renewed nothing for nearly as long as its lease lasts.
   */
  get #silenceMs(): number {
    const { leaseMs, renewMs, graceMs = leaseMs } = this.#lease.times;
    return Math.min(graceMs, leaseMs - renewMs);
  }

  /**
   * When the database was away, the leases of all nodes have ended, and each is there again a moment later. So a node that
   * has missed renewals itself waits before it removes others. What counts is when the answer came: a renewal that was on
   * its way during the outage was asked for before it.
   */
  #mayRemove(): boolean {
    const { leaseMs, renewMs, graceMs = leaseMs } = this.#lease.times;
    const now = performance.now();
    if (now - this.#renewedAt > 2 * renewMs) this.#steadySince = now;
    this.#renewedAt = now;
    return now - this.#steadySince >= graceMs;
  }

  async #renewAndRead(leaseMs: number): Promise<z.infer<typeof NodeRow>[]> {
    const { schema } = this.#database;
    const statement = {
      name: 'renew-and-read',
      text: `
        WITH renewed AS (
          UPDATE ${schema}.nodes SET lease_end = clock_timestamp() + $2 * interval '1 ms', report = $3
          WHERE node = $1 RETURNING node
        )
        SELECT n.node, name, version, extract(epoch FROM since)::float8 * 1000 AS since, report,
          extract(epoch FROM lease_end)::float8 AS lease_end,
          CASE WHEN n.node = $1 THEN $2::float8
            ELSE extract(epoch FROM lease_end - clock_timestamp())::float8 * 1000 END AS left_ms
        FROM ${schema}.nodes n WHERE n.node <> $1 OR EXISTS (SELECT FROM renewed)`,
      values: [this.self, leaseMs, JSON.stringify(this.#report)],
    };
    const rows = await this.#database.leaseRows(statement, this.#lease.patienceMs);
    return rows.map((row) => NodeRow.parse(row));
  }

  /** @returns those that are gone. One with an append under way is left to the next renewal: this one must not wait. */
  async #remove(nodes: readonly NodeId[]): Promise<NodeId[]> {
    const { schema } = this.#database;
    const statement = {
      text: `
        DELETE FROM ${schema}.nodes WHERE node IN (
          SELECT node FROM ${schema}.nodes
          WHERE node = ANY ($1) AND lease_end <= clock_timestamp() FOR UPDATE SKIP LOCKED)
        RETURNING node`,
      values: [nodes],
    };
    const rows = await this.#database.leaseRows(statement, this.#lease.patienceMs);
    const removed = rows.map(({ node }) => Number(node));
    if (removed.length > 0) for (const listener of this.#removalListeners) listener(removed);
    return removed;
  }

  #livingNode({ node, since, report, left_ms, ...named }: z.infer<typeof NodeRow>): LivingNode {
    // A newer version may tell something else. Its report is no reason to lose the lease.
    const told = report === null ? NO_LOAD : (Report.safeParse(JSON.parse(report)).data ?? NO_LOAD);
    return {
      nodeId: node,
      ...named,
      since: Math.trunc(since),
      leaseMs: Math.max(0, Math.trunc(left_ms)),
      ...told,
    };
  }
}
