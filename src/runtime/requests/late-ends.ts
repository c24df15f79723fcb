import { StorageAwayError } from '../../core/log/storage-away.ts';
import { StorageFullError } from '../../core/log/storage-full.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Pauses } from '../../timing/pauses.ts';

/** How often the log is tried while the database is away, or the disk is full. */
const AGAIN_MS = 1_000;

interface LateEnd {
  readonly write: () => Promise<void>;
  /** The try that is under way. Two at once could erase what has begun between them. */
  trying: Promise<void> | null;
}

/**
 * What this process knows of the ends of requests, and could not record because the database was away or the disk full. It
 * is recorded as soon as the log takes it, and before a repetition of the request asks the log. A process that ends before
 * that takes it along.
 */
export class LateEnds {
  readonly #log: Logger;
  readonly #pauses: Pauses;
  readonly #ends = new Map<StreamId, LateEnd>();
  #isTrying = false;
  #isStopped = false;

  constructor(log: Logger, pauses: Pauses) {
    this.#log = log;
    this.#pauses = pauses;
  }

  /** @param write is called again and again until it rejects with neither a `StorageAwayError` nor a `StorageFullError`. */
  add(stream: StreamId, write: () => Promise<void>): void {
    this.#ends.set(stream, { write, trying: null });
    if (!this.#isTrying) void this.#tryAll();
  }

  /** Records the end of this request, if one is late. Rejects with one of these errors if that cannot be done now. */
  async settled(stream: StreamId): Promise<void> {
    const end = this.#ends.get(stream);
    if (end) await this.#try(stream, end);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #tryAll(): Promise<void> {
    this.#isTrying = true;
    while (this.#ends.size > 0) {
      await this.#pauses.pause(AGAIN_MS);
      if (this.#isStopped) return;
      try {
        for (const [stream, end] of this.#ends) await this.#try(stream, end);
      } catch {
        // The log still takes nothing: the others need not find that out, too.
      }
    }
    this.#isTrying = false;
  }

  #try(stream: StreamId, end: LateEnd): Promise<void> {
    end.trying ??= this.#write(stream, end).finally(() => {
      end.trying = null;
    });
    return end.trying;
  }

  async #write(stream: StreamId, { write }: LateEnd): Promise<void> {
    try {
      await write();
    } catch (err) {
      // The request that waits for this has done nothing, so it may be sent again.
      if (err instanceof StorageAwayError) throw new StorageAwayError(err.message, { cause: err });
      if (err instanceof StorageFullError) throw err;
      this.#log.warn({ stream, err }, 'the end of a request with an idempotency key could not be recorded');
    }
    this.#ends.delete(stream);
  }
}
