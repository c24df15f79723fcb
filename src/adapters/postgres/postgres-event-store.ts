import { z } from 'zod';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { currentEvents, type EventCodec } from '../../core/log/event-codec.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { record } from '../../core/log/recorded-event.ts';
import { StorageAwayError } from '../../core/log/storage-away.ts';
import { StoreClosedError } from '../../core/log/store-closed.ts';
import type { StreamId } from '../../core/log/streams.ts';
import { asError } from '../../core/thrown.ts';
import {
  type AdoptedEvent,
  type AppendOptions,
  type EventStore,
  type ForkOptions,
  type LogSize,
  type SessionFilter,
  type SessionSummary,
  wholeOf,
} from '../../ports/event-store.ts';
import type { AppendRequest } from '../../stored-log/append-request.ts';
import { GroupCommit } from '../../stored-log/group-commit.ts';
import { RunningCalls } from '../../stored-log/running-calls.ts';
import { encodeAll, parseStoredRow } from '../../stored-log/stored-row.ts';
import { Appender } from './appender.ts';
import { adoptStream, forkStream } from './copied-streams.ts';
import type { Database } from './database.ts';
import type { NodeLease } from './node-lease.ts';
import { isLost, READING } from './postgres-errors.ts';
import type { Session } from './sql-session.ts';
import { Bigint, listIds, listStreams } from './stream-index.ts';
import { pagesOf, type ReadPage, readPage } from './stream-reader.ts';

/** Appends that wait for the database. Beyond it, the next ones are refused at once. */
const MAX_WAITING = 10_000;
/** How long the number of events in the log is believed. Other services append, too. */
const COUNT_MS = 60_000;
/** The epoch of a stream as it begins. */
export const FIRST_EPOCH = 0;
const SizeRow = z.object({ bytes: Bigint });
const CountRow = z.object({ events: Bigint });

export interface PostgresEventStoreOptions {
  readonly codec?: EventCodec | undefined;
  /** Called after each batch with the duration of its round trip. */
  readonly onCommit?: ((syncMs: number) => void) | undefined;
  /** The epochs of the streams that this node owns. Left out where one service at a time has the log. */
  readonly epochs?: Map<string, number> | undefined;
}

/**
 * The event log in PostgreSQL, as long as the lease lasts. It ends the lease and closes the database, too.
 *
 * @param lease null: the log is only read.
 */
export function postgresEventStore(
  database: Database,
  lease: NodeLease | null,
  options: PostgresEventStoreOptions = {},
): EventStore {
  return new PostgresEventStore(database, lease, options);
}

class PostgresEventStore implements EventStore {
  readonly #database: Database;
  readonly #lease: NodeLease | null;
  readonly #codec: EventCodec;
  readonly #commits: GroupCommit;
  readonly #appender: Appender | null;
  readonly #epochs: Map<string, number>;
  readonly #onCommit: PostgresEventStoreOptions['onCommit'];
  readonly #running = new RunningCalls();
  #count: { events: number; readonly until: number } | undefined;
  #disposed: Promise<void> | undefined;

  constructor(
    database: Database,
    lease: NodeLease | null,
    { codec = currentEvents, onCommit, epochs = new Map() }: PostgresEventStoreOptions,
  ) {
    this.#database = database;
    this.#lease = lease;
    this.#codec = codec;
    this.#onCommit = onCommit;
    this.#epochs = epochs;
    this.#appender = lease && new Appender(database, lease);
    const epochOf = (streamId: StreamId) => epochs.get(streamId);
    this.#commits = new GroupCommit((batch) => void this.#commit(batch), codec, epochOf);
  }

  async append(
    streamId: StreamId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    options?: AppendOptions,
  ): Promise<Envelope<LoggedEvent>[]> {
    this.#refuseWhenClosed();
    if (this.#commits.waiting >= MAX_WAITING)
      throw new StorageAwayError(`${MAX_WAITING} appends wait for PostgreSQL at ${this.#database.shown}`);
    return this.#commits.append(streamId, expectedSeq, events, options);
  }

  read(streamId: StreamId, afterSeq: number, limit = Infinity): Promise<Envelope<LoggedEvent>[]> {
    // As a whole, so that closing waits for all of its pages.
    return this.#until(() => wholeOf(this.#pages(streamId, afterSeq, limit, this.#reading(streamId))));
  }

  pages(
    streamId: StreamId,
    afterSeq: number,
    limit = Infinity,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    const read = this.#reading(streamId);
    return this.#pages(streamId, afterSeq, limit, (after, most) => this.#until(() => read(after, most)));
  }

  /** Each page is asked for again while the database is away for a moment. */
  #reading(streamId: StreamId): ReadPage {
    const database = this.#database;
    return (after, most) =>
      database.insist(READING, () => readPage(database, database, streamId, after, most));
  }

  async *#pages(
    streamId: StreamId,
    afterSeq: number,
    limit: number,
    read: ReadPage,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    let seq = afterSeq;
    for await (const links of pagesOf(read, afterSeq, limit)) {
      const before = seq + 1;
      seq += links.length;
      yield links.map((link, index) => parseStoredRow(link, streamId, before + index, this.#codec));
    }
  }

  sessions(filter: SessionFilter = {}): Promise<SessionSummary[]> {
    return this.#tracked(READING, () => listStreams(this.#database, this.#database.schema, filter));
  }

  streamIds(after: StreamId, limit: number): Promise<StreamId[]> {
    return this.#tracked(READING, () => listIds(this.#database, this.#database.schema, after, limit));
  }

  async fork(
    from: SessionId,
    at: number,
    to: SessionId,
    closing: readonly LoggedEvent[] = [],
    { origin, title, open = false }: ForkOptions = {},
  ): Promise<void> {
    const owner = this.#epochs.has(to) ? this.#writer.node : undefined;
    const encoded = encodeAll(record(closing, origin), this.#codec);
    const fork = { from, at, to, closing: encoded, title, open, owner };
    let isWritten = false;
    const write = async (session: Session): Promise<number> => {
      await this.#writer.require(session);
      const events = await forkStream(session, this.#database, fork);
      // What follows is the end of the transaction.
      isWritten = true;
      return events;
    };
    try {
      this.#counted(await this.#once('append to', () => this.#database.transact(write)));
    } catch (error) {
      throw isWritten ? maybeStored(error) : error;
    }
  }

  /** Closing does not wait for it: its events may never end. */
  async adopt(sessionId: SessionId, events: AsyncIterable<AdoptedEvent>): Promise<number> {
    this.#refuseWhenClosed();
    const database = this.#database;
    const adoption = { sessionId, events, codec: this.#codec };
    const adopt = async (session: Session): Promise<number> => {
      const count = await adoptStream(session, database, adoption);
      // Last, because whoever takes the log over waits for it.
      await this.#writer.require(session);
      return count;
    };
    const adopted = await database.once('append to', () => database.transact(adopt, { endless: true }));
    this.#counted(adopted);
    return adopted;
  }

  async erase(...streamIds: StreamId[]): Promise<void> {
    const { schema } = this.#database;
    // If the answer is lost, it is asked again: another node may have begun a session of the same id by then.
    const begun = {
      text: `
        DELETE FROM ${schema}.streams s USING unnest($1::text[], $2::int[]) AS w (stream, epoch)
        WHERE s.stream = w.stream AND (w.epoch IS NULL OR (s.owner = $3 AND s.epoch = w.epoch))
        RETURNING s.stream`,
      values: [streamIds, streamIds.map((id) => this.#epochs.get(id) ?? null), this.#writer.node],
      mayBeLong: true,
    };
    // Statements of their own: they see the events of an append, and the snapshot of a node that was slow to save it, for
    // whose ends the first one has waited.
    const rowsOf = (table: 'events' | 'snapshots', streams: readonly unknown[]) => ({
      text: `DELETE FROM ${schema}.${table} WHERE stream = ANY ($1)`,
      values: [streams],
      mayBeLong: true,
    });
    await this.#tracked('erase from', () =>
      this.#database.transact(async (session) => {
        await this.#writer.require(session);
        const gone = (await session.rows(begun)).map(({ stream }) => stream);
        await session.rows(rowsOf('events', gone));
        await session.rows(rowsOf('snapshots', gone));
      }),
    );
    this.#appender?.forget(streamIds);
    // Another session may have the same id.
    for (const stream of streamIds) if (this.#epochs.has(stream)) this.#epochs.set(stream, FIRST_EPOCH);
    this.#count = undefined;
  }

  size(): Promise<LogSize> {
    return this.#tracked('measure', async () => {
      const { schema } = this.#database;
      const [row] = await this.#database.rows({
        text: `SELECT pg_total_relation_size('${schema}.events') + pg_total_relation_size('${schema}.streams') AS bytes`,
      });
      return { databaseBytes: SizeRow.parse(row).bytes, walBytes: 0, events: await this.#events() };
    });
  }

  async probe(): Promise<void> {
    const { schema } = this.#database;
    // In one statement: a node that freezes during it keeps the others from nothing.
    const probe = {
      text: `
        WITH writer AS MATERIALIZED (SELECT node FROM ${schema}.nodes WHERE node = $1 FOR KEY SHARE)
        UPDATE ${schema}.format SET probed = clock_timestamp() WHERE EXISTS (SELECT FROM writer) RETURNING probed`,
      values: [this.#writer.node],
    };
    const probed = await this.#tracked('write to', () => this.#database.rows(probe));
    if (probed.length === 0) throw this.#writer.lose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #dispose(): Promise<void> {
    await Promise.all([this.#commits.drained(), this.#running.settled()]);
    await this.#lease?.[Symbol.asyncDispose]();
    await this.#database[Symbol.asyncDispose]();
  }

  async #commit(batch: readonly AppendRequest[]): Promise<void> {
    try {
      if (!this.#appender) throw readOnly();
      const committed = await this.#appender.append(batch);
      const refused = new Set(committed.refused.map(({ index }) => index));
      for (const [index, { data }] of batch.entries()) if (!refused.has(index)) this.#counted(data.length);
      this.#commits.commit(committed);
      this.#onCommit?.(committed.syncMs);
    } catch (error) {
      this.#commits.fail(asError(error));
    }
  }

  get #writer(): NodeLease {
    if (!this.#lease) throw readOnly();
    return this.#lease;
  }

  async #events(): Promise<number> {
    if (this.#count && performance.now() < this.#count.until) return this.#count.events;
    const { schema } = this.#database;
    const [row] = await this.#database.rows({
      text: `SELECT coalesce(sum(head), 0)::bigint AS events FROM ${schema}.streams`,
      mayBeLong: true,
    });
    this.#count = { events: CountRow.parse(row).events, until: performance.now() + COUNT_MS };
    return this.#count.events;
  }

  #counted(events: number): void {
    if (this.#count) this.#count.events += events;
  }

  /** Repeats it while the database is away for a moment. */
  #tracked<T>(attempt: string, work: () => Promise<T>): Promise<T> {
    return this.#until(() => this.#database.insist(attempt, work));
  }

  /** For what must not be done twice. */
  #once<T>(attempt: string, work: () => Promise<T>): Promise<T> {
    return this.#until(() => this.#database.once(attempt, work));
  }

  async #until<T>(work: () => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    return this.#running.track(work);
  }

  #refuseWhenClosed(): void {
    if (this.#disposed) throw new StoreClosedError();
  }
}

/** A connection that is lost at the end of a transaction has not said what became of it. */
function maybeStored(error: unknown): unknown {
  if (!(error instanceof StorageAwayError) || !isLost(error.cause)) return error;
  return new StorageAwayError(error.message, { cause: error, mayBeStored: true });
}

function readOnly(): Error {
  return new Error('the event log was opened to be read');
}
