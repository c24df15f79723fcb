import type { SessionId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import { currentEvents, type EventCodec } from '../../../core/log/event-codec.ts';
import type { LoggedEvent } from '../../../core/log/events.ts';
import { record } from '../../../core/log/recorded-event.ts';
import { StorageFullError } from '../../../core/log/storage-full.ts';
import { StoreClosedError } from '../../../core/log/store-closed.ts';
import type { StreamId } from '../../../core/log/streams.ts';
import {
  type AdoptedEvent,
  type AppendOptions,
  type EventStore,
  type ForkOptions,
  type LogSize,
  type SessionFilter,
  type SessionSummary,
  StaleVersionError,
  wholeOf,
} from '../../../ports/event-store.ts';
import type { LogBackup, LogCopy } from '../../../ports/log-backup.ts';
import type { Logger } from '../../../ports/logger.ts';
import { GroupCommit } from '../../../stored-log/group-commit.ts';
import { RunningCalls } from '../../../stored-log/running-calls.ts';
import { encodeAll } from '../../../stored-log/stored-row.ts';
import type { DatabaseUse } from '../file/data-directory.ts';
import { adoptEvents } from './adopt-events.ts';
import { type LogThread, openEventLog, startLogThread } from './log-thread.ts';
import { readPages } from './paged-read.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { Answer, Call, Failure, WorkerReply } from './worker-protocol.ts';

export interface SqliteEventStoreOptions {
  /** The directory of `events.db` and its companion files. Created, for its owner alone, when absent. */
  readonly directory: string;
  readonly log: Logger;
  /** `read` changes no file. Left out, it is `write`. */
  readonly use?: DatabaseUse | undefined;
  /** A thread that was started earlier. Left out, a new one is started. */
  readonly thread?: LogThread | undefined;
  readonly codec?: EventCodec | undefined;
  /** Called after each commit with its duration, the sync to the disk included. */
  readonly onCommit?: OnCommit | undefined;
}

type OnCommit = (syncMs: number) => void;

/**
 * Opens the event log in one SQLite file. A thread of its own writes it, so the event loop never waits for a disk.
 * Rejects when the directory is in use, or when its files are damaged or not an event log.
 */
export async function openSqliteEventStore({
  directory,
  log,
  use = 'write',
  thread = startLogThread(),
  codec,
  onCommit,
}: SqliteEventStoreOptions): Promise<EventStore & LogBackup> {
  await openEventLog(thread, { directory, use }, log);
  return new SqliteEventStore(thread, { log, codec, onCommit });
}

export class SqliteEventStore implements EventStore, LogBackup {
  readonly #thread: LogThread;
  readonly #log: Logger;
  readonly #codec: EventCodec;
  readonly #onCommit: OnCommit | undefined;
  readonly #commits: GroupCommit;
  readonly #calls: ThreadCalls;
  readonly #running = new RunningCalls();
  /** Set when nothing can be appended or read any more. */
  #unusable: Error | undefined;
  #disposed: Promise<void> | undefined;
  #isClosing = false;

  constructor(
    thread: LogThread,
    { log, codec = currentEvents, onCommit }: Omit<SqliteEventStoreOptions, 'directory' | 'use' | 'thread'>,
  ) {
    this.#thread = thread;
    this.#log = log;
    this.#codec = codec;
    this.#onCommit = onCommit;
    this.#commits = new GroupCommit((batch) => thread.post({ type: 'append', batch }), codec);
    this.#calls = new ThreadCalls((request) => thread.post(request));
    thread.onReply((reply) => this.#accept(reply));
    void thread.ended.then((reason) => this.#end(reason));
  }

  async append(
    streamId: StreamId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    options?: AppendOptions,
  ): Promise<Envelope<LoggedEvent>[]> {
    if (this.#unusable !== undefined) throw this.#unusable;
    return this.#commits.append(streamId, expectedSeq, events, options);
  }

  async read(streamId: StreamId, afterSeq: number, limit = Infinity): Promise<Envelope<LoggedEvent>[]> {
    return this.#running.track(() => wholeOf(this.pages(streamId, afterSeq, limit)));
  }

  async *pages(
    streamId: StreamId,
    afterSeq: number,
    limit = Infinity,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    if (this.#unusable !== undefined) throw this.#unusable;
    const ask = (call: Call): Promise<Answer> => this.#running.track(() => this.#calls.send(call));
    yield* readPages({ ask, codec: this.#codec }, streamId, afterSeq, limit);
  }

  async sessions(filter: SessionFilter = {}): Promise<SessionSummary[]> {
    const answer = await this.#call({ type: 'list', filter });
    if (answer.type !== 'summaries') throw new Error(`a list was answered with ${answer.type}`);
    return [...answer.summaries];
  }

  async streamIds(after: StreamId, limit: number): Promise<StreamId[]> {
    const answer = await this.#call({ type: 'ids', after, limit });
    if (answer.type !== 'ids') throw new Error(`a question for ids was answered with ${answer.type}`);
    return [...answer.ids];
  }

  async fork(
    from: SessionId,
    at: number,
    to: SessionId,
    closing: readonly LoggedEvent[] = [],
    { origin, title, open = false }: ForkOptions = {},
  ): Promise<void> {
    const encoded = encodeAll(record(closing, origin), this.#codec);
    const answer = await this.#call({ type: 'fork', from, at, to, title, open, ...encoded });
    if (answer.type !== 'forked') throw new Error(`a fork was answered with ${answer.type}`);
    if (answer.actual > 0) throw new StaleVersionError(to, 0, answer.actual);
  }

  adopt(sessionId: SessionId, events: AsyncIterable<AdoptedEvent>): Promise<number> {
    return adoptEvents({ call: (call) => this.#call(call), codec: this.#codec }, sessionId, events);
  }

  async erase(...streamIds: StreamId[]): Promise<void> {
    await this.#call({ type: 'erase', sessionIds: streamIds });
  }

  async size(): Promise<LogSize> {
    const answer = await this.#call({ type: 'measure' });
    if (answer.type !== 'measured') throw new Error(`a measurement was answered with ${answer.type}`);
    return answer.size;
  }

  async backup(): Promise<LogCopy> {
    const answer = await this.#call({ type: 'backup' });
    if (answer.type !== 'backed-up') throw new Error(`a backup was answered with ${answer.type}`);
    return answer.copy;
  }

  async probe(): Promise<void> {
    await this.#call({ type: 'probe' });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #call(call: Call): Promise<Answer> {
    if (this.#unusable !== undefined) throw this.#unusable;
    return this.#running.track(() => this.#calls.send(call));
  }

  /** Waits for running calls, then tells the thread to close the file. */
  async #dispose(): Promise<void> {
    const died = this.#unusable !== undefined;
    this.#unusable ??= new StoreClosedError();
    await Promise.all([this.#commits.drained(), this.#running.settled()]);
    this.#isClosing = true;
    this.#thread.post({ type: 'close' });
    const reason = await this.#thread.ended;
    // If the thread had died before, that was reported then.
    if (reason !== undefined && !died) throw reason;
  }

  #accept(reply: WorkerReply): void {
    switch (reply.type) {
      case 'opened':
      case 'notice':
        return; // `openEventLog` handles them.
      case 'committed':
        this.#commits.commit(reply);
        this.#onCommit?.(reply.syncMs);
        this.#log.debug(
          { appends: reply.appends, refused: reply.refused.length },
          'event log: batch committed',
        );
        return;
      case 'append-failed':
        this.#commits.fail(errorOf(reply));
        return;
      case 'answer':
        this.#calls.accept(reply.id, reply.answer);
        return;
      case 'call-failed':
        this.#calls.fail(reply.id, errorOf(reply));
        return;
      default:
        reply satisfies never;
    }
  }

  #end(reason: Error | undefined): void {
    // Whoever closes the store is told why that has failed.
    if (this.#isClosing) return;
    const error = new Error('the event log cannot be used: its thread has died; restart the service', {
      cause: reason,
    });
    this.#log.error({ err: error }, 'event log: thread died');
    this.#unusable ??= error;
    this.#commits.abandon(error);
    this.#calls.abandon(error);
  }
}

/** Restores the class that the error lost between the threads. */
function errorOf({ error, isFull }: Failure): Error {
  return isFull ? new StorageFullError(error.message, { cause: error }) : error;
}
