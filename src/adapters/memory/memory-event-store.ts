import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { currentEvents, type EventCodec } from '../../core/log/event-codec.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { record } from '../../core/log/recorded-event.ts';
import { StoreClosedError } from '../../core/log/store-closed.ts';
import type { StreamId } from '../../core/log/streams.ts';
import {
  type AdoptedEvent,
  type AppendOptions,
  type EventStore,
  type ForkOptions,
  type LogSize,
  PAGE_CHARACTERS,
  requireForkPoint,
  type SessionFilter,
  type SessionMark,
  type SessionSummary,
  StaleVersionError,
  wholeOf,
} from '../../ports/event-store.ts';

interface Row {
  readonly time: number;
  readonly data: string;
}

interface Session {
  /** Grows in place. A copy at each append would make a long session quadratic. */
  readonly rows: Row[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly open: boolean;
  readonly title?: string | null | undefined;
}

/** As the stores on a disk have it. */
const PAGE_ROWS = 1_000;

/** An event store in memory, for tests, benches and the data directory `:memory:`. */
export function memoryEventStore(clock: () => number = Date.now, codec = currentEvents): EventStore {
  return new MemoryEventStore(clock, codec);
}

/**
 * Keeps events as text. So nobody can change the log through an object that was appended or read, and events are parsed
 * as they are when they come from a disk.
 */
class MemoryEventStore implements EventStore {
  readonly #clock: () => number;
  readonly #sessions = new Map<SessionId, Session>();
  readonly #codec: EventCodec;
  #closed = false;

  constructor(clock: () => number, codec: EventCodec) {
    this.#clock = clock;
    this.#codec = codec;
  }

  async append(
    streamId: StreamId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    { open, title, origin, addendum }: AppendOptions = {},
  ): Promise<Envelope<LoggedEvent>[]> {
    this.#refuseWhenClosed();
    const session = this.#sessions.get(streamId);
    const rows = session?.rows ?? [];
    if (rows.length !== expectedSeq) throw new StaleVersionError(streamId, expectedSeq, rows.length);
    const time = this.#clock();
    // Encodes all events before storing one: an event that cannot be encoded must leave no trace.
    const first = record(events, origin);
    const more = addendum?.(first);
    const recorded = more ? [...first, ...record(more.events, more.origin)] : first;
    const encoded = recorded.map((one) => ({ time, data: this.#codec.encode(one) }));
    for (const row of encoded) rows.push(row);
    if (rows.length > 0) {
      this.#sessions.set(streamId, {
        rows,
        createdAt: session?.createdAt ?? time,
        updatedAt: encoded.length > 0 ? time : (session?.updatedAt ?? time),
        open: more?.open ?? open ?? session?.open ?? false,
        title: title === undefined ? session?.title : title,
      });
    }
    return recorded.map(({ event, meta }, index) => ({
      sessionId: streamId,
      seq: expectedSeq + 1 + index,
      time,
      event,
      meta,
    }));
  }

  async read(streamId: StreamId, afterSeq: number, limit = Infinity): Promise<Envelope<LoggedEvent>[]> {
    return wholeOf(this.pages(streamId, afterSeq, limit));
  }

  async *pages(
    streamId: StreamId,
    afterSeq: number,
    limit = Infinity,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    this.#refuseWhenClosed();
    const rows = this.#sessions.get(streamId)?.rows ?? [];
    for (let seq = afterSeq; seq < rows.length && seq < afterSeq + limit; ) {
      const most = Math.min(PAGE_ROWS, afterSeq + limit - seq);
      const page: Envelope<LoggedEvent>[] = [];
      for (let characters = 0; page.length < most && characters < PAGE_CHARACTERS; ) {
        const row = rows[seq];
        if (!row) break;
        seq += 1;
        page.push({ sessionId: streamId, seq, time: row.time, ...this.#codec.decode(row.data) });
        characters += row.data.length;
      }
      yield page;
    }
  }

  async sessions(filter: SessionFilter = {}): Promise<SessionSummary[]> {
    this.#refuseWhenClosed();
    const { sessionId: only, open, after = '', before, limit = Infinity } = filter;
    return [...this.#sessions]
      .filter(([sessionId]) => sessionId > after && (only === undefined || sessionId === only))
      .filter(([sessionId]) => before === undefined || sessionId < before)
      .filter(([, session]) => open === undefined || session.open === open)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit)
      .map(([sessionId, { rows, title, ...session }]) => ({
        sessionId,
        head: rows.length,
        ...session,
        ...(title !== undefined && title !== null && { title }),
      }));
  }

  async streamIds(after: StreamId, limit: number): Promise<StreamId[]> {
    this.#refuseWhenClosed();
    return [...this.#sessions.keys()]
      .filter((id) => id > after)
      .sort()
      .slice(0, limit);
  }

  async fork(
    from: SessionId,
    at: number,
    to: SessionId,
    closing: readonly LoggedEvent[] = [],
    { origin, title, open = false }: ForkOptions = {},
  ): Promise<void> {
    this.#refuseWhenClosed();
    const rows = this.#sessions.get(from)?.rows ?? [];
    requireForkPoint(from, at, rows.length);
    this.#refuseExisting(to);
    const time = this.#clock();
    const closed = record(closing, origin).map((one) => ({ time, data: this.#codec.encode(one) }));
    const copied = [...rows.slice(0, at), ...closed];
    this.#sessions.set(to, { rows: copied, createdAt: time, updatedAt: time, open, title });
  }

  async adopt(sessionId: SessionId, events: AsyncIterable<AdoptedEvent>): Promise<number> {
    this.#refuseWhenClosed();
    this.#refuseExisting(sessionId);
    const rows: Row[] = [];
    let marked: SessionMark = { open: false };
    for await (const { time, event, meta = null, mark } of events) {
      rows.push({ time, data: this.#codec.encode({ event, meta }) });
      marked = mark;
    }
    this.#refuseWhenClosed();
    this.#refuseExisting(sessionId);
    const [first] = rows;
    const last = rows.at(-1);
    if (first && last)
      this.#sessions.set(sessionId, { rows, createdAt: first.time, updatedAt: last.time, ...marked });
    return rows.length;
  }

  async erase(...streamIds: StreamId[]): Promise<void> {
    this.#refuseWhenClosed();
    for (const streamId of streamIds) this.#sessions.delete(streamId);
  }

  async size(): Promise<LogSize> {
    this.#refuseWhenClosed();
    let events = 0;
    for (const { rows } of this.#sessions.values()) events += rows.length;
    return { databaseBytes: 0, walBytes: 0, events };
  }

  async probe(): Promise<void> {
    this.#refuseWhenClosed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
  }

  #refuseExisting(sessionId: SessionId): void {
    const existing = this.#sessions.get(sessionId);
    if (existing !== undefined) throw new StaleVersionError(sessionId, 0, existing.rows.length);
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new StoreClosedError();
  }
}
