import type { StreamId } from '../../core/log/streams.ts';

/** Most streams of one statement. */
const MAX_AT_ONCE = 1_000;

interface Batch<T> {
  readonly streams: StreamId[];
  readonly done: Promise<T>;
}

/**
 * Runs one statement for many streams. A node may have ten thousand sessions and has few database connections, so all
 * streams that come while one statement runs share the next statement.
 */
export class GatheredStatements<T> {
  readonly #statement: (streams: readonly StreamId[]) => Promise<T>;
  /** The batch that was begun last. Null: none was. */
  #batch: Batch<T> | null = null;
  /** Whether that batch takes more streams. */
  #isOpen = false;

  constructor(statement: (streams: readonly StreamId[]) => Promise<T>) {
    this.#statement = statement;
  }

  /** Resolves and rejects as a statement does that begins after this call, for this stream and others. */
  run(stream: StreamId): Promise<T> {
    const last = this.#batch;
    const batch = last && this.#isOpen && last.streams.length < MAX_AT_ONCE ? last : this.#begin(last);
    batch.streams.push(stream);
    return batch.done;
  }

  #begin(before: Batch<T> | null): Batch<T> {
    const streams: StreamId[] = [];
    this.#isOpen = true;
    this.#batch = { streams, done: this.#runAfter(before, streams) };
    return this.#batch;
  }

  async #runAfter(before: Batch<T> | null, streams: readonly StreamId[]): Promise<T> {
    // If the batch before has failed, those who wait for it are told.
    await Promise.allSettled([before?.done]);
    if (this.#batch?.streams === streams) this.#isOpen = false;
    return this.#statement(streams);
  }
}
