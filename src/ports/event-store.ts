import type { SessionId } from '../core/ids.ts';
import type { Envelope } from '../core/log/envelope.ts';
import type { EventMetadata, Origin } from '../core/log/event-metadata.ts';
import type { LoggedEvent } from '../core/log/events.ts';
import type { RecordedEvent } from '../core/log/recorded-event.ts';
import type { StreamId } from '../core/log/streams.ts';

/** Another append came first: the session is at `actual`, not at `expected`. Load the session again. */
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

/** What an append stores in the index of sessions. */
export interface SessionMark {
  /** Whether the session has an open turn after these events. */
  readonly open: boolean;
  /** The title of the session. Null: it has none. Absent: it stays as it was. */
  readonly title?: string | null;
}

export interface ForkOptions {
  /** Who or what caused the closing events. Only tests leave it out. */
  readonly origin?: Origin | undefined;
  /** The title of the new session. */
  readonly title?: string | null;
  /** The mark of the new session. Absent: it is not open. */
  readonly open?: boolean;
}

export interface AppendOptions extends Partial<SessionMark> {
  /** Who or what caused the events. Only tests leave it out: then the events have no metadata. */
  readonly origin?: Origin | undefined;
  /** A store that gathers appends asks this just before it writes. Others need not. */
  readonly addendum?: AskForAddendum | undefined;
}

/** Events that follow from those of an append, and came while it waited to be written. They are part of it then. */
export interface Addendum extends Pick<SessionMark, 'open'> {
  readonly events: readonly LoggedEvent[];
  readonly origin: Origin;
}

/** Asked at most once. @param recorded the events of the append. */
export type AskForAddendum = (recorded: readonly RecordedEvent[]) => Addendum | null;

/** A session as the index has it; no event is read. */
export interface SessionSummary {
  readonly sessionId: SessionId;
  /** Seq of the last event. */
  readonly head: number;
  /**
   * When the first event was appended, in whichever store, or when the session was forked. Milliseconds since
   * the epoch.
   */
  readonly createdAt: number;
  /** When the last event was appended, or when the session was forked. */
  readonly updatedAt: number;
  readonly open: boolean;
  /** As the last mark with a title says. Absent if the session has none, or if an earlier release wrote the log. */
  readonly title?: string;
}

/** An event that was appended to another store. */
export interface AdoptedEvent {
  /** When the other store appended it: milliseconds since the epoch. */
  readonly time: number;
  readonly event: LoggedEvent;
  /** Absent if the event has none. */
  readonly meta?: EventMetadata | null;
  /** Mark of the session after this event, with its title. Only the mark of the last event is stored. */
  readonly mark: SessionMark;
}

/** How large the log is. */
export interface LogSize {
  /** Bytes of the database; 0 for a log that is not on a disk. */
  readonly databaseBytes: number;
  /** Bytes of the write-ahead log beside the database. */
  readonly walBytes: number;
  /** Events of all streams. */
  readonly events: number;
}

/** What the pages hold. */
export async function wholeOf<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  return (await Array.fromAsync(pages)).flat();
}

/** About how long the events of a page of the log are. */
export const PAGE_CHARACTERS = 1_000_000;

export interface SessionFilter {
  /** Only this session. */
  readonly sessionId?: SessionId;
  /** Only sessions with this mark; all if absent. */
  readonly open?: boolean;
  /** Only sessions whose id sorts after this id. */
  readonly after?: SessionId;
  /** Only sessions whose id sorts before this id. */
  readonly before?: SessionId;
  /** Maximum number of summaries; all if absent. */
  readonly limit?: number;
}

/**
 * The append-only log. Promises:
 *
 * - `append` stores all events or none, with the seqs `expectedSeq + 1 …` without holes. It resolves only
 *   when they would survive a crash of the process and, for stores on disk, of the machine. The mark is
 *   stored in the same transaction. Without events only the mark is stored, if the session exists. It resolves to all
 *   that it stored, the addendum included.
 * - Of two appends with the same expected seq, one wins. The other rejects with `StaleVersionError` and
 *   leaves no trace. Appends to different sessions never wait for each other's outcome.
 * - `read` returns the envelopes after a seq in order, and sees every append that had resolved before the
 *   call. If events are damaged, it rejects and names them. It never returns fewer or different events than
 *   were stored.
 * - `pages` yields the same, a page at a time, each read when it is asked for. A page ends with the event that makes it longer than
 *   `PAGE_CHARACTERS`, so that whoever takes one page after the other needs little memory.
 * - `sessions` returns the sessions that have events, sorted by id in code-unit order. It reads an index: its
 *   cost grows with its result, not with the length of the log.
 * - `fork`, `adopt` and `erase` are atomic, and as durable as an append when they resolve. Their order
 *   relative to unresolved calls for the same session is undefined.
 */
export interface EventStore extends AsyncDisposable {
  /**
   * @param expectedSeq seq of the session's last event; 0 for a session without any.
   * @param options without `open`, the mark stays as it is; a new session is not open.
   */
  append(
    streamId: StreamId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    options?: AppendOptions,
  ): Promise<Envelope<LoggedEvent>[]>;

  /** @param limit maximum number of envelopes; all if absent. */
  read(streamId: StreamId, afterSeq: number, limit?: number): Promise<Envelope<LoggedEvent>[]>;

  /** @param limit maximum number of envelopes in all pages; all if absent. No page is empty. */
  pages(streamId: StreamId, afterSeq: number, limit?: number): AsyncIterable<Envelope<LoggedEvent>[]>;

  sessions(filter?: SessionFilter): Promise<SessionSummary[]>;

  /**
   * The ids of at most `limit` streams that sort after `after`, in code-unit order. Much cheaper than `sessions`, because
   * nothing else of the index is read, nor checked.
   */
  streamIds(after: StreamId, limit: number): Promise<StreamId[]>;

  /**
   * Creates the session `to` with copies of the events 1 to `at` of `from`, with their seqs and times. The
   * events of `closing` follow in the same transaction. The mark of `from` is not copied. Rejects with `RangeError` unless
   * `at` is an integer from 1 to the head of `from`, and with `StaleVersionError` if `to` exists.
   */
  fork(
    from: SessionId,
    at: number,
    to: SessionId,
    closing?: readonly LoggedEvent[],
    options?: ForkOptions,
  ): Promise<void>;

  /**
   * Creates a session from events of another store, with the seqs 1, 2, 3 … and their original times. The
   * session appears once all events have arrived. If `events` throws, `adopt` rejects with that error and
   * stores nothing. It also rejects if the store is closed meanwhile, and with `StaleVersionError` if the
   * session exists. Without events no session is created. Stores on disk do not collect the events in memory,
   * and other calls do not wait for them.
   *
   * @returns the seq of the last event.
   */
  adopt(sessionId: SessionId, events: AsyncIterable<AdoptedEvent>): Promise<number>;

  /**
   * Removes the streams and all their events; stores on disk also remove the bytes from their files. The ids
   * may be used again, from seq 1. Ids of streams that do not exist are ignored.
   */
  erase(...streamIds: StreamId[]): Promise<void>;

  /**
   * Resolves when the other nodes have read what was appended to a stream that each of them keeps in memory, as far as they
   * can be asked. Left out where there are none.
   */
  announce?(streamId: StreamId): Promise<void>;

  /** The first call may count; later calls cost the same for a long log as for a short one. */
  size(): Promise<LogSize>;

  /** Writes and synchronises as an append does, but leaves no event. Rejects if that fails. */
  probe(): Promise<void>;
}
