import { ServiceError } from '../../core/errors.ts';
import { MEGABYTE } from '../../core/size-limits.ts';
import type { Clock } from '../../timing/clock.ts';
import { Semaphore } from '../../timing/semaphore.ts';

/** Smaller messages and sessions are not counted: the limits on requests and sockets are what bounds them. */
const LARGE_BYTES = MEGABYTE;
const RETRY_SECONDS = 5;
/** What reading takes, if there are large events in it. */
const READER_BYTES = 16 * MEGABYTE;
const LEAST_READERS = 4;
/** More would only wait for each other in the log. */
const MOST_READERS = 16;
/** While the log is away, each reader takes seconds. */
const PATIENCE_MS = 10_000;

/** What a session takes in memory. */
interface Held {
  readonly bytes: number;
  readonly isIdle: boolean;
}

/**
 * How much memory large sessions take together while something goes on in them. Whoever may send a message could end the
 * process otherwise, within all other limits.
 */
export class WorkingMemory {
  readonly #maxBytes: number;
  readonly #readers: Semaphore;
  readonly #readersOfLarge: Semaphore;
  readonly #holders: (() => Iterable<Held>)[] = [];
  /** Of the messages on their way to the log. */
  #arriving = 0;

  /** @param clock a simulated one, in tests. */
  constructor(maxBytes: number, clock?: Clock) {
    this.#maxBytes = maxBytes;
    const atOnce = Math.min(MOST_READERS, Math.max(LEAST_READERS, Math.floor(maxBytes / READER_BYTES)));
    const timing = { patienceMs: PATIENCE_MS, ...(clock && { clock }) };
    this.#readers = new Semaphore({ atOnce, ...timing });
    this.#readersOfLarge = new Semaphore({ atOnce: 1, ...timing });
  }

  /** @param sessions gives those in memory. */
  countSessions(sessions: () => Iterable<Held>): void {
    this.#holders.push(sessions);
  }

  /** Runs what records a message of that size. Rejects with `SERVICE_UNAVAILABLE` while there is no room for it. */
  taking<T>(bytes: number, record: () => Promise<T>): Promise<T> {
    return bytes < LARGE_BYTES ? record() : this.#takingLarge(bytes, record);
  }

  /** Throws unless the session may take a message of that size, which `taking` has counted if it is large, and work on it. */
  requireFor(session: Held, bytes: number): void {
    const whole = session.bytes + bytes;
    if (whole < LARGE_BYTES) return;
    if (whole > this.#maxBytes) throw tooLargeSession(whole, this.#maxBytes);
    const counted = bytesAtWork(session) + (bytes < LARGE_BYTES ? 0 : bytes);
    this.#requireRoom(whole - counted);
  }

  /** Runs what reads a session from the log. Nobody knows how large it is, so only some run at the same time. */
  reading<T>(read: () => Promise<T>): Promise<T> {
    return this.#readers.run(read);
  }

  /** Resolves when the session that is read may be read further, now that so many bytes of it are known. @returns ends that. */
  async readingOn(bytes: number): Promise<(() => void) | null> {
    return bytes < LARGE_BYTES ? null : this.#readersOfLarge.acquire();
  }

  async #takingLarge<T>(bytes: number, record: () => Promise<T>): Promise<T> {
    this.#requireRoom(bytes);
    this.#arriving += bytes;
    try {
      return await record();
    } finally {
      this.#arriving -= bytes;
    }
  }

  #requireRoom(bytes: number): void {
    if (bytes > this.#maxBytes) throw tooLargeSession(bytes, this.#maxBytes);
    if (this.#arriving + this.#atWork() + bytes > this.#maxBytes) throw noRoom(this.#maxBytes);
  }

  #atWork(): number {
    let sum = 0;
    for (const sessions of this.#holders) for (const session of sessions()) sum += bytesAtWork(session);
    return sum;
  }
}

function bytesAtWork({ bytes, isIdle }: Held): number {
  return isIdle || bytes < LARGE_BYTES ? 0 : bytes;
}

function noRoom(limit: number): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The service works on too many large messages. Try again later.',
    {
      reason: `large sessions may take ${Math.floor(limit / MEGABYTE)} MB of memory together while they are at work, or wait for a decision or an answer`,
      limit,
      suggestion: 'If this lasts, decide what waits, or cancel it.',
      retryAfter: RETRY_SECONDS,
    },
  );
}

function tooLargeSession(bytes: number, limit: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The conversation has become too large.', {
    field: 'sessionId',
    issue: `with this message it takes ${Math.ceil(bytes / MEGABYTE)} MB of memory, and may take ${Math.floor(limit / MEGABYTE)}`,
    limit,
    suggestion: 'Reset the session, or begin another one.',
  });
}
