import type { DatabaseSync } from 'node:sqlite';
import { integerOf } from '../file/columns.ts';

/**
 * The number of events in the log. Nothing is counted before somebody asks: the first reading reads the whole index of
 * sessions. From then on each commit adds to the count.
 */
export class EventCount {
  readonly #db: DatabaseSync;
  #count: number | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  read(): number {
    // The seqs of a session have no holes, so its head is the number of its events.
    this.#count ??= integerOf(this.#db.prepare('SELECT coalesce(sum(head), 0) AS n FROM sessions').get()?.n);
    return this.#count;
  }

  /** Call it after the commit, since a rollback would leave the count wrong. */
  add(events: number): void {
    if (this.#count !== undefined) this.#count += events;
  }
}
