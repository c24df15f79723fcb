import type { SessionId } from '../../../src/core/ids.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { LoggedEvent, SessionEvent } from '../../../src/core/log/events.ts';
import type { StreamId } from '../../../src/core/log/streams.ts';
import type {
  AdoptedEvent,
  AppendOptions,
  EventStore,
  ForkOptions,
  LogSize,
  SessionFilter,
  SessionSummary,
} from '../../../src/ports/event-store.ts';

/** An event store whose appends and reads a test can hold up or let fail. */
export class WatchedStore implements EventStore {
  readonly #inner: EventStore;
  /** Comes before each append; what it throws rejects the append, and nothing is stored. */
  beforeAppend: (events: readonly LoggedEvent[]) => Promise<void> = async () => undefined;
  /** Comes after each append; what it throws rejects the append, though its events are stored. */
  afterAppend: (events: readonly LoggedEvent[]) => Promise<void> = async () => undefined;
  /** What it throws rejects the erasure, and nothing is erased. */
  beforeErase: () => Promise<void> = async () => undefined;
  beforeRead: () => Promise<void> = async () => undefined;
  beforeProbe: () => Promise<void> = async () => undefined;
  announce: (streamId: StreamId) => Promise<void> = async () => undefined;
  reads = 0;

  constructor(inner: EventStore) {
    this.#inner = inner;
  }

  async append(
    sessionId: SessionId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    options?: AppendOptions,
  ): Promise<Envelope<LoggedEvent>[]> {
    await this.beforeAppend(events);
    const envelopes = await this.#inner.append(sessionId, expectedSeq, events, options);
    await this.afterAppend(events);
    return envelopes;
  }

  async read(sessionId: SessionId, afterSeq: number, limit?: number): Promise<Envelope<LoggedEvent>[]> {
    this.reads += 1;
    await this.beforeRead();
    return this.#inner.read(sessionId, afterSeq, limit);
  }

  async *pages(
    sessionId: SessionId,
    afterSeq: number,
    limit?: number,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    this.reads += 1;
    await this.beforeRead();
    let isFurther = false;
    for await (const page of this.#inner.pages(sessionId, afterSeq, limit)) {
      if (isFurther) this.reads += 1;
      isFurther = true;
      yield page;
    }
  }

  sessions(filter?: SessionFilter): Promise<SessionSummary[]> {
    return this.#inner.sessions(filter);
  }

  streamIds(after: StreamId, limit: number): Promise<StreamId[]> {
    return this.#inner.streamIds(after, limit);
  }

  async fork(
    from: SessionId,
    at: number,
    to: SessionId,
    closing: readonly LoggedEvent[] = [],
    options?: ForkOptions,
  ): Promise<void> {
    await this.beforeAppend(closing);
    await this.#inner.fork(from, at, to, closing, options);
  }

  async adopt(sessionId: SessionId, events: AsyncIterable<AdoptedEvent>): Promise<number> {
    await this.beforeAppend([]);
    return this.#inner.adopt(sessionId, events);
  }

  async erase(...sessionIds: SessionId[]): Promise<void> {
    await this.beforeErase();
    return this.#inner.erase(...sessionIds);
  }

  size(): Promise<LogSize> {
    return this.#inner.size();
  }

  async probe(): Promise<void> {
    await this.beforeProbe();
    await this.#inner.probe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }

  /** The next append that holds such an event is rejected once; nothing of it is stored. */
  refuseNext(type: LoggedEvent['type'], error: Error): void {
    this.beforeAppend = async (events) => {
      if (!events.some((event) => event.type === type)) return;
      this.beforeAppend = async () => undefined;
      throw error;
    };
  }

  /** Holds the next append that has such an event. @returns a promise that it has come, and its release. */
  holdNext(type: SessionEvent['type']): { arrived: Promise<void>; release: () => void } {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.beforeAppend = async (events) => {
      if (!events.some((event) => event.type === type)) return;
      this.beforeAppend = async () => undefined;
      arrived.resolve();
      await released.promise;
    };
    return { arrived: arrived.promise, release: released.resolve };
  }
}
