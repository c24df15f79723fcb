import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { chainHash, chainStart, type Link } from '../../../stored-log/chain.ts';
import { integerOf, textOf } from '../file/columns.ts';
import { isSqliteError } from '../file/sqlite-errors.ts';

/** A link with its stored hash. */
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

/** Reads and checks single links of the chains. */
export class ChainReader {
  readonly #link: StatementSync;
  readonly #hash: StatementSync;
  readonly #last: StatementSync;

  constructor(db: DatabaseSync) {
    this.#link = db.prepare('SELECT seq, time, type, data, hash FROM events WHERE session = ? AND seq = ?');
    this.#hash = db.prepare('SELECT hash FROM events WHERE session = ? AND seq = ?');
    this.#last = db.prepare('SELECT session, seq FROM events ORDER BY rowid DESC LIMIT ?');
  }

  /** The stored hash of the event at `seq`, which the next event is chained to. */
  hashAt(sessionId: SessionId, seq: number): string | undefined {
    if (seq === 0) return chainStart;
    const hash = this.#hash.get(sessionId, seq)?.hash;
    return typeof hash === 'string' ? hash : undefined;
  }

  /** Whether the event exists and is linked to its predecessor. With `hash`, whether it also has that hash. */
  holds(sessionId: SessionId, seq: number, hash?: string): boolean {
    try {
      const row = this.#link.get(sessionId, seq);
      const previous = this.hashAt(sessionId, seq - 1);
      if (row === undefined || previous === undefined) return false;
      const link = storedLink(row);
      return chainHash(previous, sessionId, link) === link.hash && (hash ?? link.hash) === link.hash;
    } catch (error) {
      if (isSqliteError(error)) throw error;
      return false;
    }
  }

  /** Session and seq of the last events that were stored. */
  last(count: number): { readonly sessionId: SessionId; readonly seq: number }[] {
    return this.#last
      .all(count)
      .map(({ session, seq }) => ({ sessionId: textOf(session), seq: integerOf(seq) }));
  }
}
