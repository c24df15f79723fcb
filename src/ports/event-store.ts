import type { SessionId } from '../core/ids.ts';
import type { Envelope } from '../core/log/envelope.ts';
import type { EventMetadata, Origin } from '../core/log/event-metadata.ts';
import type { LoggedEvent } from '../core/log/events.ts';

/** Somebody else appended first: the session is at `actual`, not at `expected`. Load it again. */
export class StaleVersionError extends Error {
  readonly sessionId: SessionId;
  readonly expected: number;
  readonly actual: number;

  constructor(sessionId: SessionId, expected: number, actual: number) {
    super(`session ${sessionId} is at seq ${actual}, not at ${expected}`);
    this.name = 'StaleVersionError';
    this.sessionId = sessionId;
    this.expected = expected;
    this.actual = actual;
  }
}

/** Throws unless a session whose last event is `head` can be forked at the seq `at`. */
export function requireForkPoint(from: SessionId, at: number, head: number): void {
  if (Number.isInteger(at) && at >= 1 && at <= head) return;
  const seqs = head === 0 ? 'no events' : `the seqs 1 to ${head}`;
  throw new RangeError(`session ${from} cannot be forked at ${at}: it has ${seqs}`);
}

/** What the index of sessions keeps with an append. */
export interface SessionMark {
  /** Whether the session has an open turn after these events. */
  readonly open: boolean;
}

/** How events are appended. */
export interface AppendOptions extends Partial<SessionMark> {
  /** Who or what brought them about. Left out in tests: the events have no metadata then. */
  readonly origin?: Origin | undefined;
}

/** A session as its index knows it, without reading any event. */
export interface SessionSummary {
  readonly sessionId: SessionId;
  /** Seq of its last event. */
  readonly head: number;
  /** When its first event was appended, wherever that was, or when it was forked: milliseconds since the epoch. */
  readonly createdAt: number;
  /** When its last event was appended, or when it was forked. */
  readonly updatedAt: number;
  readonly open: boolean;
}

/** An event that was appended to another store. */
export interface AdoptedEvent {
  /** When that was: milliseconds since the epoch. */
  readonly time: number;
  readonly event: LoggedEvent;
  /** Left out where it has none. */
  readonly meta?: EventMetadata | null;
  /** Of its session, after this event. That of the last one counts. */
  readonly mark: SessionMark;
}

export interface SessionFilter {
  /** Only this one. */
  readonly sessionId?: SessionId;
  /** Only those whose mark is this; all when left out. */
  readonly open?: boolean;
  /** Only those whose id comes after this one. */
  readonly after?: SessionId;
  /** The most summaries to give back; all when left out. */
  readonly limit?: number;
}

/**
 * The append-only log. Promises:
 *
 * - `append` stores all events or none, with seq `expectedSeq + 1 …` and no holes, and resolves only when
 *   they would survive a crash of the process and, for stores on disk, of the machine. The mark is stored
 *   with them, in the same transaction; without events it alone is stored, if the session exists.
 * - Two appends with the same expected seq: one wins, the other is refused with `StaleVersionError` and
 *   leaves no trace. Appends to different sessions never wait for each other's outcome.
 * - `read` gives the envelopes after a seq in order, and sees every append that had resolved before the call.
 *   What is damaged is refused by name: never fewer events than were stored, never different ones.
 * - `sessions` gives the sessions that have events, in the order of their ids compared by code unit. It asks
 *   an index: what it costs grows with what it gives back, not with the length of the log.
 * - `fork`, `adopt` and `erase` do all or nothing, and are as durable as an append when they resolve. Towards calls
 *   for the same session that have not resolved yet they come in any order.
 */
export interface EventStore extends AsyncDisposable {
  /**
   * @param expectedSeq seq of the session's last event; 0 for a session without any.
   * @param options `open` left out: as it was; not open for a new session.
   */
  append(
    sessionId: SessionId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    options?: AppendOptions,
  ): Promise<Envelope<LoggedEvent>[]>;

  /** @param limit the most envelopes to give back; all when left out. */
  read(sessionId: SessionId, afterSeq: number, limit?: number): Promise<Envelope<LoggedEvent>[]>;

  sessions(filter?: SessionFilter): Promise<SessionSummary[]>;

  /**
   * Begins the session `to` with copies of the events 1 to `at` of `from`: same seq, same time. The events of
   * `closing` follow them, in the same transaction: a fork is there with them or not at all. It is not marked open, whatever `from` is. Rejects with `RangeError` unless `at` is an integer from 1 to the head of
   * `from`, with `StaleVersionError` when `to` exists.
   */
  fork(
    from: SessionId,
    at: number,
    to: SessionId,
    closing?: readonly LoggedEvent[],
    origin?: Origin,
  ): Promise<void>;

  /**
   * Begins a session with events that were appended elsewhere: with the seqs 1, 2, 3 … and the times they had. It
   * is there when all of them have come, not before; when they end in an error, `adopt` rejects with that and
   * stores nothing, and so it does when the store is closed before. Stores on disk do not gather them in memory. Other
   * calls do not wait for them. Rejects with `StaleVersionError` when the session exists; without events it makes none.
   *
   * @returns the seq of the last event.
   */
  adopt(sessionId: SessionId, events: AsyncIterable<AdoptedEvent>): Promise<number>;

  /**
   * Removes the sessions and all their events, for stores on disk also the bytes from the files. The ids may be
   * used again, from seq 1. A session that does not exist is erased already.
   */
  erase(...sessionIds: SessionId[]): Promise<void>;

  /** Writes something and has it synchronised, as an append would, and leaves no event. Rejects when that fails. */
  probe(): Promise<void>;
}
