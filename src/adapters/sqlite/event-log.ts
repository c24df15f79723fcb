import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import type { AppendRequest, Committed, Page, ReadRequest, StaleAppend } from './worker-protocol.ts';

/** A page ends after so many characters, so that a few large events cannot fill the memory. */
const pageCharacters = 1_000_000;

/** The log inside the worker: synchronous, one transaction a batch. */
export class EventLog implements Disposable {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #head: StatementSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;

  constructor({ db, file }: Database) {
    this.#db = db;
    this.#file = file;
    this.#head = db.prepare('SELECT max(seq) AS seq FROM events WHERE session = ?');
    this.#insert = db.prepare('INSERT INTO events (session, seq, time, type, data) VALUES (?, ?, ?, ?, ?)');
    this.#select = db.prepare(
      'SELECT seq, time, data FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?',
    );
  }

  /** Stores every append whose expected seq holds when its turn in the batch comes. */
  append(batch: readonly AppendRequest[]): Committed {
    const time = Date.now();
    const stale: StaleAppend[] = [];
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      for (const [index, append] of batch.entries()) {
        const actual = this.#headOf(append.sessionId);
        if (actual === append.expectedSeq) this.#store(append, time);
        else stale.push({ index, actual });
      }
      this.#db.exec('COMMIT');
    } catch (error) {
      // After some errors SQLite has rolled back by itself.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw explainSqliteError(error, this.#file, 'append to');
    }
    return { type: 'committed', time, appends: batch.length, stale };
  }

  read({ id, sessionId, afterSeq, maxRows }: ReadRequest): Page {
    try {
      const rows: unknown[] = [];
      let characters = 0;
      for (const row of this.#select.iterate(sessionId, afterSeq, maxRows)) {
        rows.push(row);
        characters += String(row.data).length;
        if (characters >= pageCharacters) return { type: 'page', id, rows, last: false };
      }
      return { type: 'page', id, rows, last: rows.length < maxRows };
    } catch (error) {
      throw explainSqliteError(error, this.#file, 'read');
    }
  }

  [Symbol.dispose](): void {
    // Closing would do this too, but would not say when it fails.
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#db.close();
  }

  #headOf(sessionId: string): number {
    const seq = this.#head.get(sessionId)?.seq;
    return typeof seq === 'number' ? seq : 0;
  }

  #store({ sessionId, expectedSeq, types, data }: AppendRequest, time: number): void {
    for (const [index, json] of data.entries()) {
      this.#insert.run(sessionId, expectedSeq + 1 + index, time, types[index] ?? '', json);
    }
  }
}
