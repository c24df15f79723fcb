import { z } from 'zod';
import type { SessionId } from '../../core/ids.ts';
import type { Snapshot, SnapshotStore } from '../../ports/snapshot-store.ts';
import { checksum } from '../../stored-log/checksum.ts';
import { RunningCalls } from '../../stored-log/running-calls.ts';
import type { Database } from './database.ts';
import type { NodeLease } from './node-lease.ts';
import { READING } from './postgres-errors.ts';
import type { Session } from './sql-session.ts';

const PartRow = z.object({
  part: z.int(),
  seq: z.int(),
  parts: z.int(),
  text: z.string(),
  hash: z.string(),
});
type PartRow = z.infer<typeof PartRow>;

export interface PostgresSnapshotDeps {
  readonly lease: NodeLease;
  /** Whether several services share the log, so that each session has an owner. */
  readonly shares: boolean;
}

/** Keeps one snapshot of a session, in the database of its events, which the store of the events closes. */
export function postgresSnapshotStore(database: Database, deps: PostgresSnapshotDeps): SnapshotStore {
  return new PostgresSnapshotStore(database, deps);
}

class PostgresSnapshotStore implements SnapshotStore {
  readonly #database: Database;
  readonly #deps: PostgresSnapshotDeps;
  readonly #running = new RunningCalls();
  #isClosed = false;

  constructor(database: Database, deps: PostgresSnapshotDeps) {
    this.#database = database;
    this.#deps = deps;
  }

  load(sessionId: SessionId, latestSeq = Infinity): Promise<Snapshot | undefined> {
    const { schema } = this.#database;
    return this.#tracked(async () => {
      const statement = {
        name: 'snapshot',
        text: `SELECT part, seq, parts, text, hash FROM ${schema}.snapshots WHERE stream = $1 ORDER BY part`,
        values: [sessionId],
      };
      const rows = await this.#database.insist(READING, () => this.#database.rows(statement));
      const found = rows.map((row) => PartRow.parse(row));
      return found.every((row, part) => isIntact(sessionId, row, part))
        ? snapshotOf(found, latestSeq)
        : undefined;
    });
  }

  async save(sessionId: SessionId, seq: number, parts: AsyncIterable<string>): Promise<void> {
    const { schema } = this.#database;
    await this.#tracked(async () => {
      // Read before the transaction, which would keep a connection while they are made.
      const texts: string[] = [];
      for await (const text of parts) texts.push(text);
      // Row 0 has no text. So there is a row for a snapshot without parts.
      const rows = ['', ...texts].map((text, part) => ({ part, seq, parts: texts.length, text }));
      const write = async (session: Session): Promise<void> => {
        if (!(await this.#holds(session, sessionId, seq))) return;
        await this.#remove(session, sessionId);
        for (const row of rows)
          await session.rows({
            name: 'save',
            text: `INSERT INTO ${schema}.snapshots (stream, part, seq, parts, text, hash) VALUES ($1, $2, $3, $4, $5, $6)`,
            values: [sessionId, row.part, row.seq, row.parts, row.text, hashOf(sessionId, row)],
          });
        // Last, because whoever takes the log over waits for it.
        await this.#deps.lease.require(session);
      };
      // The next one is taken soon enough.
      await this.#database.once('save a snapshot in', () => this.#database.transact(write));
    });
  }

  async erase(sessionId: SessionId): Promise<void> {
    await this.#tracked(() =>
      this.#database.insist('erase from', () => this.#remove(this.#database, sessionId)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#running.settled();
  }

  /**
   * Whether this node has the session, up to this event. A node that was paused may have lost it meanwhile, and the session
   * may be erased. If there is the session, its erasure waits for the end of the transaction.
   */
  async #holds(session: Session, sessionId: SessionId, seq: number): Promise<boolean> {
    const { lease, shares } = this.#deps;
    const held = await session.rows({
      name: 'hold',
      text: `
        SELECT stream FROM ${this.#database.schema}.streams
        WHERE stream = $1 AND head >= $2 AND ($3::bigint IS NULL OR owner = $3) FOR KEY SHARE`,
      values: [sessionId, seq, shares ? lease.node : null],
    });
    return held.length > 0;
  }

  async #remove(session: Session, sessionId: SessionId): Promise<void> {
    const { schema } = this.#database;
    await session.rows({ text: `DELETE FROM ${schema}.snapshots WHERE stream = $1`, values: [sessionId] });
  }

  async #tracked<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('the snapshot store is closed');
    return this.#running.track(work);
  }
}

function snapshotOf(rows: readonly PartRow[], latestSeq: number): Snapshot | undefined {
  const [first, ...parts] = rows;
  if (!first || first.parts !== parts.length || first.seq > latestSeq) return undefined;
  return { seq: first.seq, parts: parts.map(({ text }) => text) };
}

function isIntact(sessionId: SessionId, row: PartRow, part: number): boolean {
  return row.part === part && row.hash === hashOf(sessionId, row);
}

function hashOf(sessionId: SessionId, { part, seq, parts, text }: Omit<PartRow, 'hash'>): string {
  return checksum(`${sessionId}\n${part}\n${seq}\n${parts}\n${text}`);
}
