import type { Envelope } from '../../../src/core/log/envelope.ts';
import { currentEvents } from '../../../src/core/log/event-codec.ts';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import { record } from '../../../src/core/log/recorded-event.ts';
import type { StreamId } from '../../../src/core/log/streams.ts';
import {
  type AdoptedEvent,
  type AppendOptions,
  type EventStore,
  type ForkOptions,
  type LogSize,
  requireForkPoint,
  type SessionFilter,
  type SessionSummary,
  StaleVersionError,
} from '../../../src/ports/event-store.ts';
import type { AppendRequest } from '../../../src/stored-log/append-request.ts';
import { GroupCommit } from '../../../src/stored-log/group-commit.ts';
import type { NodeDatabase } from './node-database.ts';
import { FIRST_EPOCH, type StoredStream } from './simulated-database.ts';

/** The log as one node uses it. */
export class SimulatedStore implements EventStore {
  readonly #database: NodeDatabase;
  readonly #epochs: Map<StreamId, number>;
  readonly #commits: GroupCommit;

  /** @param epochs of the sessions of this node. */
  constructor(database: NodeDatabase, epochs: Map<StreamId, number>) {
    this.#database = database;
    this.#epochs = epochs;
    this.#commits = new GroupCommit((batch) => void this.#commit(batch), currentEvents);
  }

  append(
    streamId: StreamId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    options?: AppendOptions,
  ): Promise<Envelope<LoggedEvent>[]> {
    return this.#commits.append(streamId, expectedSeq, events, options);
  }

  read(streamId: StreamId, afterSeq: number, limit = Infinity): Promise<Envelope<LoggedEvent>[]> {
    return this.#database.ask(`read ${streamId} after ${afterSeq}`, ({ streams }) => {
      const rows = streams.get(streamId)?.rows ?? [];
      return rows.slice(afterSeq, afterSeq + limit).map(({ time, data }, index) => ({
        sessionId: streamId,
        seq: afterSeq + 1 + index,
        time: Math.floor(time),
        ...currentEvents.decode(data),
      }));
    });
  }

  async *pages(
    streamId: StreamId,
    afterSeq: number,
    limit?: number,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    const page = await this.read(streamId, afterSeq, limit);
    if (page.length > 0) yield page;
  }

  sessions({
    sessionId,
    open,
    after = '',
    before,
    limit = Infinity,
  }: SessionFilter = {}): Promise<SessionSummary[]> {
    const isWanted = ([id, stream]: [string, StoredStream]): boolean =>
      id > after &&
      (sessionId === undefined || id === sessionId) &&
      (before === undefined || id < before) &&
      (open === undefined || stream.open === open);
    return this.#database.ask('list sessions', ({ streams }) =>
      [...streams]
        .filter(isWanted)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, limit)
        .map(([id, { rows, createdAt, updatedAt, open: isOpen, title }]) => ({
          sessionId: id,
          head: rows.length,
          createdAt,
          updatedAt,
          open: isOpen,
          ...(title !== undefined && title !== null && { title }),
        })),
    );
  }

  streamIds(after: StreamId, limit: number): Promise<StreamId[]> {
    return this.#database.ask('list streams', ({ streams }) =>
      [...streams.keys()]
        .filter((id) => id > after)
        .toSorted()
        .slice(0, limit),
    );
  }

  fork(
    from: StreamId,
    at: number,
    to: StreamId,
    closing: readonly LoggedEvent[] = [],
    { origin, title }: ForkOptions = {},
  ): Promise<void> {
    const closed = record(closing, origin).map((one) => currentEvents.encode(one));
    const owner = this.#epochs.has(to) ? this.#database.node : null;
    return this.#database.ask(`fork ${from} to ${to}`, (database) => {
      database.require(this.#database.node);
      const rows = database.streams.get(from)?.rows ?? [];
      requireForkPoint(from, at, rows.length);
      const existing = database.streams.get(to);
      if (existing) throw new StaleVersionError(to, 0, existing.rows.length);
      const time = database.now;
      database.begin(
        to,
        [...rows.slice(0, at - database.lacksOfForks), ...closed.map((data) => ({ time, data }))],
        owner,
        title,
      );
    });
  }

  adopt(_sessionId: StreamId, _events: AsyncIterable<AdoptedEvent>): Promise<number> {
    return Promise.reject(new Error('a simulated node imports nothing'));
  }

  async erase(...streamIds: StreamId[]): Promise<void> {
    const epochs = new Map(this.#epochs);
    await this.#database.ask(`erase ${streamIds.join(', ')}`, (database) =>
      database.erase(this.#database.node, epochs, streamIds),
    );
    for (const id of streamIds) if (this.#epochs.has(id)) this.#epochs.set(id, FIRST_EPOCH);
  }

  size(): Promise<LogSize> {
    return this.#database.ask('measure', () => ({ databaseBytes: 0, walBytes: 0, events: 0 }));
  }

  async probe(): Promise<void> {
    await this.#database.ask('probe', (database) => database.require(this.#database.node));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#commits.drained();
  }

  async #commit(batch: readonly AppendRequest[]): Promise<void> {
    const ids = batch.map(({ sessionId, types }) => `${types.join(' ')} to ${sessionId}`).join(', ');
    try {
      const epochs = new Map(this.#epochs);
      const committed = await this.#database.ask(`append ${ids}`, (database) => ({
        time: Math.floor(database.now),
        refused: database.append(this.#database.node, epochs, batch),
      }));
      this.#commits.commit({ ...committed, appends: batch.length, syncMs: 0 });
    } catch (error) {
      this.#commits.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
