import type { Envelope } from '../../contract/envelope.ts';
import type { SessionEvent } from '../../contract/events.ts';
import type { SessionId } from '../../contract/ids.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { GroupCommit } from './group-commit.ts';
import { type LogThread, startLogThread } from './log-thread.ts';
import { PagedReads } from './paged-reads.ts';
import type { WorkerReply } from './worker-protocol.ts';

export interface SqliteEventStoreOptions {
  /** Holds `events.db`. Created, for its owner alone, when absent. */
  readonly directory: string;
  readonly log: Log;
}

/**
 * The event log in one SQLite file, written by a thread of its own: the event loop never waits for a disk.
 * Rejects when the directory is in use, or when what is in it is not ours to write.
 */
export async function openSqliteEventStore({ directory, log }: SqliteEventStoreOptions): Promise<EventStore> {
  return new SqliteEventStore(await startLogThread({ directory }), log);
}

export class SqliteEventStore implements EventStore {
  readonly #thread: LogThread;
  readonly #log: Log;
  readonly #commits: GroupCommit;
  readonly #reads: PagedReads;
  /** Why nothing can be appended or read any more. */
  #unusable: Error | undefined;
  #disposed: Promise<void> | undefined;

  constructor(thread: LogThread, log: Log) {
    this.#thread = thread;
    this.#log = log;
    this.#commits = new GroupCommit((batch) => thread.post({ type: 'append', batch }));
    this.#reads = new PagedReads((request) => thread.post(request));
    thread.onReply((reply) => this.#accept(reply));
    void thread.ended.then((reason) => this.#end(reason));
  }

  async append(
    sessionId: SessionId,
    expectedSeq: number,
    events: readonly SessionEvent[],
  ): Promise<Envelope[]> {
    if (this.#unusable !== undefined) throw this.#unusable;
    return this.#commits.append(sessionId, expectedSeq, events);
  }

  async read(sessionId: SessionId, afterSeq: number, limit = Infinity): Promise<Envelope[]> {
    if (this.#unusable !== undefined) throw this.#unusable;
    return this.#reads.read(sessionId, afterSeq, limit);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  /** Lets what was begun finish, then has the thread checkpoint and close the file. */
  async #dispose(): Promise<void> {
    const died = this.#unusable !== undefined;
    this.#unusable ??= new Error('the event store is closed');
    await Promise.all([this.#commits.drained(), this.#reads.drained()]);
    this.#thread.post({ type: 'close' });
    const reason = await this.#thread.ended;
    // A thread that had died before was reported then, and has nothing left to close.
    if (reason !== undefined && !died) throw reason;
  }

  #accept(reply: WorkerReply): void {
    switch (reply.type) {
      case 'opened':
        return;
      case 'committed':
        this.#commits.commit(reply);
        this.#log.debug({ appends: reply.appends, stale: reply.stale.length }, 'event log: batch committed');
        return;
      case 'append-failed':
        this.#commits.fail(reply.error);
        return;
      case 'page':
        this.#reads.accept(reply);
        return;
      case 'read-failed':
        this.#reads.fail(reply.id, reply.error);
        return;
      default:
        reply satisfies never;
    }
  }

  #end(reason: Error | undefined): void {
    if (reason === undefined && this.#disposed !== undefined) return;
    const error = new Error('the event log is lost: its thread has died; restart the service', {
      cause: reason,
    });
    this.#log.error({ err: error }, 'event log: thread died');
    this.#unusable ??= error;
    this.#commits.abandon(error);
    this.#reads.abandon(error);
  }
}
