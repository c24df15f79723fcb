import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { chainHash, chainStart, type Link } from '../../../stored-log/chain.ts';
import { integerOf, textOf } from '../file/columns.ts';
import { firstSeqOf } from '../file/packed-events.ts';
import { isCorrupt, isSqliteError } from '../file/sqlite-errors.ts';

/** A row with its stored hash. */
export interface StoredLink extends Link {
  readonly hash: string;
}

/** Throws when a column has a value of another type. */
export function storedLink(row: Record<string, unknown>): StoredLink {
  return {
    seq: integerOf(row.seq),
    time: integerOf(row.time),
    type: textOf(row.type),
    data: textOf(row.data),
    hash: textOf(row.hash),
  };
}

/** Reads and checks single rows of the chains. */
export class ChainReader {
  readonly #link: StatementSync;
  readonly #before: StatementSync;
  readonly #last: StatementSync;
  readonly #all: StatementSync;

  constructor(db: DatabaseSync) {
    this.#link = db.prepare('SELECT seq, time, type, data, hash FROM events WHERE session = ? AND seq = ?');
    this.#before = db.prepare(
      'SELECT seq, hash FROM events WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
    );
    this.#all = db.prepare('SELECT seq, time, type, data, hash FROM events WHERE session = ? ORDER BY seq');
    this.#last = db.prepare('SELECT session, seq FROM events ORDER BY rowid DESC');
  }

  /** The last row without events after `seq`, which the next row is chained to. */
  before(sessionId: SessionId, seq: number): Pick<StoredLink, 'seq' | 'hash'> {
    const row = seq === 0 ? undefined : this.#before.get(sessionId, seq);
    return row === undefined
      ? { seq: 0, hash: chainStart }
      : { seq: integerOf(row.seq), hash: textOf(row.hash) };
  }

  /** Whether a row ends with the event and is linked to its predecessor. With `hash`, whether it also has that hash. */
  holds(sessionId: SessionId, seq: number, hash?: string): boolean {
    try {
      const row = this.#link.get(sessionId, seq);
      if (row === undefined) return false;
      const link = storedLink(row);
      const end = firstSeqOf(link) - 1;
      const previous = this.before(sessionId, end);
      if (previous.seq !== end) return false;
      return chainHash(previous.hash, sessionId, link) === link.hash && (hash ?? link.hash) === link.hash;
    } catch (error) {
      if (isSqliteError(error)) throw error;
      return false;
    }
  }

  /** The seq up to which each event of the session is linked to the one before it. It reads the whole session. */
  intactUpTo(sessionId: SessionId): number {
    let intact = { seq: 0, hash: chainStart };
    try {
      for (const row of this.#all.iterate(sessionId)) {
        const link = storedLink(row);
        const isNext = firstSeqOf(link) === intact.seq + 1;
        if (!isNext || chainHash(intact.hash, sessionId, link) !== link.hash) break;
        intact = link;
      }
    } catch (error) {
      // What cannot be read is not intact.
      if (isSqliteError(error) && !isCorrupt(error)) throw error;
    }
    return intact.seq;
  }

  /** Session and last seq of the rows that were stored last. @param without streams to leave out. */
  last(
    count: number,
    without: ReadonlySet<SessionId>,
  ): { readonly sessionId: SessionId; readonly seq: number }[] {
    const last: { sessionId: SessionId; seq: number }[] = [];
    for (const row of this.#last.iterate()) {
      const sessionId = textOf(row.session);
      if (!without.has(sessionId)) last.push({ sessionId, seq: integerOf(row.seq) });
      if (last.length === count) break;
    }
    return last;
  }
}
