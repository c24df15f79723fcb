import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { textOf } from '../file/columns.ts';

/** The titles of sessions as appends gave them. Logs of earlier releases have no titles, and their sessions get none here. */
export class TitleIndex {
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare('SELECT title FROM titles WHERE session = ?');
    this.#put = db.prepare(`
      INSERT INTO titles (session, title) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET title = excluded.title
    `);
    this.#remove = db.prepare('DELETE FROM titles WHERE session = ?');
  }

  find(sessionId: SessionId): string | undefined {
    const row = this.#find.get(sessionId);
    return row && textOf(row.title);
  }

  /** @param title undefined changes nothing; null removes the title. */
  put(sessionId: SessionId, title: string | null | undefined): void {
    if (title === null) this.remove(sessionId);
    else if (title !== undefined) this.#put.run(sessionId, title);
  }

  remove(sessionId: SessionId): void {
    this.#remove.run(sessionId);
  }
}
