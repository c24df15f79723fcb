import { MEGABYTE } from '../../core/size-limits.ts';
import type { Clock } from '../../timing/clock.ts';
import { Semaphore } from '../../timing/semaphore.ts';

/** What one read takes in memory, if there are large events in it. */
const READ_BYTES = 16 * MEGABYTE;
const MIN_READS = 4;
/** The log's thread serves one read at a time. */
const MAX_READS = 16;
const LARGE_BYTES = MEGABYTE;
/** A read that has waited for so long runs anyway: while the log is away, each read takes seconds. */
const PATIENCE_MS = 10_000;

/** Limits how many sessions are read from the log at the same time. Nobody knows how large a session is before it is read. */
export class LogReaders {
  readonly #reads: Semaphore;
  readonly #largeReads: Semaphore;

  /** @param maxBytes how much memory the reads should take together. @param clock a simulated one, in tests. */
  constructor(maxBytes: number, clock?: Clock) {
    const atOnce = Math.min(MAX_READS, Math.max(MIN_READS, Math.floor(maxBytes / READ_BYTES)));
    const timing = { patienceMs: PATIENCE_MS, ...(clock && { clock }) };
    this.#reads = new Semaphore({ atOnce, ...timing });
    this.#largeReads = new Semaphore({ atOnce: 1, ...timing });
  }

  /** Runs `read` once it may run. */
  run<T>(read: () => Promise<T>): Promise<T> {
    return this.#reads.run(read);
  }

  /**
   * Call it while a session is read, with the bytes that are known of it so far. A large session waits until no other large
   * one is read. @returns a function to call when the read has ended; null if the session is not large so far.
   */
  async admitLarge(bytes: number): Promise<(() => void) | null> {
    return bytes < LARGE_BYTES ? null : this.#largeReads.acquire();
  }
}
