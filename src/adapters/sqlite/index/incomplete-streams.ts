import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StreamId } from '../../../core/log/streams.ts';
import { textOf } from '../file/columns.ts';

/** Rows that a step removes. An append waits for one step at most. */
const ROWS_PER_STEP = 500;

/**
 * The streams of which the log has some rows only, because a long one is copied or erased in several transactions. The index of
 * sessions does not have them, so nobody sees them. If the process ends, the next start removes their rows.
 */
export class IncompleteStreams {
  readonly #db: DatabaseSync;
  readonly #add: StatementSync;
  readonly #remove: StatementSync;
  readonly #deleteSome: StatementSync;
  readonly #deleteAll: StatementSync;
  #ids: Set<StreamId> | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#add = db.prepare('INSERT INTO incomplete (stream) VALUES (?)');
    this.#remove = db.prepare('DELETE FROM incomplete WHERE stream = ?');
    this.#deleteSome = db.prepare(
      'DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE session = ? LIMIT ?)',
    );
    this.#deleteAll = db.prepare('DELETE FROM events WHERE session = ?');
  }

  has(streamId: StreamId): boolean {
    this.#ids ??= incompleteIn(this.#db);
    return this.#ids.has(streamId);
  }

  /** Call it in the transaction that stores the first rows, or removes the stream from the index. */
  add(streamId: StreamId): void {
    this.#add.run(streamId);
    this.#ids?.add(streamId);
  }

  /** Call it in the transaction that puts the stream into the index. */
  complete(streamId: StreamId): void {
    this.#remove.run(streamId);
    this.#ids?.delete(streamId);
  }

  /** Removes rows of the stream. @returns whether there may be more. */
  removeSome(streamId: StreamId): boolean {
    if (!this.has(streamId)) return false;
    if (Number(this.#deleteSome.run(streamId, ROWS_PER_STEP).changes) === ROWS_PER_STEP) return true;
    this.complete(streamId);
    return false;
  }

  /**
   * Removes the rows of a stream that has left the index. @param head the number of its events.
   * @returns whether it has too many rows for one step, so that `removeSome` is to remove them.
   */
  remove(streamId: StreamId, head: number): boolean {
    const isLong = head > ROWS_PER_STEP && !this.has(streamId);
    if (isLong) this.add(streamId);
    else this.removeAll(streamId);
    return isLong;
  }

  /** Removes all rows of the stream, whether or not it is incomplete. */
  removeAll(streamId: StreamId): void {
    this.#deleteAll.run(streamId);
    if (this.has(streamId)) this.complete(streamId);
  }

  /** Call it after a rollback, which undoes what was changed. */
  forget(): void {
    this.#ids = undefined;
  }
}

/** A log of an earlier release has no table of them. */
export function incompleteIn(db: DatabaseSync): Set<StreamId> {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'incomplete'").get() === undefined)
    return new Set();
  return new Set(
    db
      .prepare('SELECT stream FROM incomplete')
      .all()
      .map(({ stream }) => textOf(stream)),
  );
}

/** Removes what a process that has ended left behind. @returns whether there was anything. */
export function removeIncomplete(db: DatabaseSync): boolean {
  db.exec('DELETE FROM events WHERE session IN (SELECT stream FROM incomplete)');
  return Number(db.prepare('DELETE FROM incomplete').run().changes) > 0;
}
