import { SHARES } from '../../core/access/shares.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import { fullService, fullShare, HOLDERS, type LimitHolder } from '../../core/limit-errors.ts';
import { MEGABYTE } from '../../core/size-limits.ts';
import { ownerPrefixes } from '../access/owner-prefixes.ts';

/** Smaller messages and sessions are not counted: the limits on requests and sockets bound them. */
const LARGE_BYTES = MEGABYTE;
const RETRY_SECONDS = 5;

/** A message on its way to the log, or what a session takes in memory. */
interface Taken {
  readonly sessionId: SessionId;
  readonly bytes: number;
}

interface Held extends Taken {
  readonly isIdle: boolean;
}

/** What a session asks for: `more` bytes than are counted for it already, after which it takes `whole` bytes. */
interface Wanted {
  readonly more: number;
  readonly whole: number;
}

/** What some sessions may take together. */
interface Share {
  readonly of: LimitHolder | null;
  /** The prefix of the ids of these sessions. */
  readonly prefix: string;
  readonly maxBytes: number;
}

/**
 * Limits how much memory large sessions take together while they are at work. Without this, a client could exhaust the memory
 * of the process within all other limits. A session with an owner counts for its owner, too: a principal has a
 * share for its sessions, or room for one session that is larger, and all principals of a tenant have a share together.
 */
export class WorkingMemory {
  readonly #maxBytes: number;
  readonly #holders: (() => Iterable<Held>)[] = [];
  /** The large messages on their way to the log. */
  readonly #arriving = new Set<Taken>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @param sessions returns the sessions in memory. */
  countSessions(sessions: () => Iterable<Held>): void {
    this.#holders.push(sessions);
  }

  /**
   * Runs `record`, which records a message of that size. Rejects while there is no room for it: with `RATE_LIMIT_EXCEEDED` if the owner of
   * the session has too much at work, with `SERVICE_UNAVAILABLE` if all have.
   */
  taking<T>(sessionId: SessionId, bytes: number, record: () => Promise<T>): Promise<T> {
    return bytes < LARGE_BYTES ? record() : this.#takingLarge({ sessionId, bytes }, record);
  }

  /**
   * Throws the same errors as `taking` unless the session may take a message of that size, and work on it. `taking` has counted
   * the message if it is large. Throws `INVALID_REQUEST` if the session may never take it.
   */
  requireFor(session: Held, bytes: number): void {
    const whole = session.bytes + bytes;
    if (whole < LARGE_BYTES) return;
    const counted = bytesAtWork(session) + (bytes < LARGE_BYTES ? 0 : bytes);
    this.#requireCapacity(session.sessionId, { more: whole - counted, whole });
  }

  async #takingLarge<T>(message: Taken, record: () => Promise<T>): Promise<T> {
    const { sessionId, bytes } = message;
    this.#requireCapacity(sessionId, { more: bytes, whole: bytes });
    this.#arriving.add(message);
    try {
      return await record();
    } finally {
      this.#arriving.delete(message);
    }
  }

  #requireCapacity(sessionId: SessionId, { more, whole }: Wanted): void {
    const shares = this.#sharesOf(sessionId);
    const most = shares.find(({ of }) => of !== 'principal')?.maxBytes ?? this.#maxBytes;
    if (whole > most) throw tooLargeSession(whole, most);
    const taken = this.#taken();
    for (const { of, prefix, maxBytes } of shares) {
      const together = taken.filter((one) => one.sessionId.startsWith(prefix));
      const isAlone = together.every((one) => one.sessionId === sessionId);
      if (of === 'principal' && isAlone) continue;
      const sum = together.reduce((bytes, one) => bytes + one.bytes, more);
      if (sum > maxBytes) throw of ? noRoomOf(of, maxBytes) : noRoom(maxBytes);
    }
  }

  /** The shares in which the session counts, the smallest first. */
  #sharesOf(sessionId: SessionId): Share[] {
    const prefixes = ownerPrefixes(sessionId);
    const share = (of: LimitHolder, prefix: string): Share => {
      return { of, prefix, maxBytes: Math.floor(this.#maxBytes * SHARES[of]) };
    };
    const ofOwner = prefixes ? HOLDERS.map((of) => share(of, prefixes[of])) : [];
    return [...ofOwner, { of: null, prefix: '', maxBytes: this.#maxBytes }];
  }

  #taken(): Taken[] {
    const taken = [...this.#arriving];
    for (const sessions of this.#holders) {
      for (const session of sessions()) {
        const bytes = bytesAtWork(session);
        if (bytes > 0) taken.push({ sessionId: session.sessionId, bytes });
      }
    }
    return taken;
  }
}

function bytesAtWork({ bytes, isIdle }: Held): number {
  return isIdle || bytes < LARGE_BYTES ? 0 : bytes;
}

const SUGGESTION = 'If this lasts, decide what waits, or cancel it.';

function noRoomOf(of: LimitHolder, limit: number): ServiceError {
  const what = 'bytes of large sessions at work';
  return fullShare({ name: 'largeSessions', of, what, suggestion: SUGGESTION }, limit, RETRY_SECONDS);
}

function noRoom(limit: number): ServiceError {
  return fullService({
    message: 'The service works on too many large messages. Try again later.',
    reason: `large sessions may take ${Math.floor(limit / MEGABYTE)} MB of memory together while they are at work, or wait for a decision or an answer`,
    limit,
    suggestion: SUGGESTION,
    retrySeconds: RETRY_SECONDS,
  });
}

function tooLargeSession(bytes: number, limit: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The conversation has become too large.', {
    field: 'sessionId',
    issue: `with this message it takes ${Math.ceil(bytes / MEGABYTE)} MB of memory, and may take ${Math.floor(limit / MEGABYTE)}`,
    limit,
    suggestion: 'Reset the session, or begin another one.',
  });
}
