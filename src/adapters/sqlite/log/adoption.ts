import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import type { IndexedSession } from '../index/session-index.ts';
import { chainHash, chainStart } from '../integrity/chain.ts';
import type { StageCall } from './worker-protocol.ts';

/** The adoptions that are under way. */
export class Adoptions {
  readonly #db: DatabaseSync;
  readonly #underWay = new Map<number, Adoption>();
  #last = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** @returns the number to find it by. */
  begin(sessionId: SessionId): number {
    this.#last += 1;
    this.#underWay.set(this.#last, new Adoption(this.#db, sessionId, this.#last));
    return this.#last;
  }

  find(id: number): Adoption {
    const adoption = this.#underWay.get(id);
    if (adoption === undefined) throw new Error(`there is no adoption ${id}`);
    return adoption;
  }

  /** Forgets what is staged, if anything still is. */
  end(id: number): void {
    this.#underWay.get(id)?.[Symbol.dispose]();
    this.#underWay.delete(id);
  }
}

/**
 * A session on its way in. Its events wait in a temporary table: a file of SQLite's own that is gone with the
 * process, so the log knows nothing of them until all have come, and no memory has to hold them.
 */
class Adoption implements Disposable {
  readonly sessionId: SessionId;
  readonly #db: DatabaseSync;
  readonly #table: string;
  readonly #insert: StatementSync;
  #head = 0;
  #hash = chainStart;
  #createdAt = 0;
  #updatedAt = 0;

  constructor(db: DatabaseSync, sessionId: SessionId, id: number) {
    this.sessionId = sessionId;
    this.#db = db;
    this.#table = `temp.adoption_${id}`;
    db.exec(`
      CREATE TABLE ${this.#table} (
        seq INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        type TEXT NOT NULL,
        data TEXT NOT NULL,
        hash TEXT NOT NULL
      ) STRICT
    `);
    this.#insert = db.prepare(
      `INSERT INTO ${this.#table} (seq, time, type, data, hash) VALUES (?, ?, ?, ?, ?)`,
    );
  }

  get head(): number {
    return this.#head;
  }

  /** To be called in a transaction: each event would be one of its own. */
  stage({ times, types, data }: StageCall): void {
    for (const [index, json] of data.entries()) {
      const time = times[index] ?? 0;
      const link = { seq: this.#head + 1, time, type: types[index] ?? '', data: json };
      this.#hash = chainHash(this.#hash, this.sessionId, link);
      this.#insert.run(link.seq, time, link.type, json, this.#hash);
      if (this.#head === 0) this.#createdAt = time;
      this.#updatedAt = time;
      this.#head = link.seq;
    }
  }

  /** Puts the events into the log. @returns what its index is to say. */
  store(open: boolean): IndexedSession {
    const columns = 'seq, time, type, data, hash';
    this.#db
      .prepare(
        `INSERT INTO events (session, ${columns}) SELECT ?, ${columns} FROM ${this.#table} ORDER BY seq`,
      )
      .run(this.sessionId);
    return {
      sessionId: this.sessionId,
      head: this.#head,
      hash: this.#hash,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
      open,
    };
  }

  [Symbol.dispose](): void {
    this.#db.exec(`DROP TABLE ${this.#table}`);
  }
}
