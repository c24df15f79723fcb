import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { chainHash, chainStart } from '../../../stored-log/chain.ts';
import type { IndexedSession } from '../index/session-index.ts';
import type { StageCall } from './worker-protocol.ts';

/** The sessions that are being adopted, by the number of their adoption. */
export class StagedAdoptions {
  readonly #db: DatabaseSync;
  readonly #staged = new Map<number, StagedAdoption>();
  #lastId = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** @returns the id of the adoption. */
  begin(sessionId: SessionId): number {
    this.#lastId += 1;
    this.#staged.set(this.#lastId, new StagedAdoption(this.#db, sessionId, this.#lastId));
    return this.#lastId;
  }

  find(id: number): StagedAdoption {
    const adoption = this.#staged.get(id);
    if (adoption === undefined) throw new Error(`there is no adoption ${id}`);
    return adoption;
  }

  /** Drops the staged events. Does nothing when the adoption has ended. */
  end(id: number): void {
    this.#staged.get(id)?.[Symbol.dispose]();
    this.#staged.delete(id);
  }
}

/**
 * One session that is being adopted. Its events wait in a temporary table until all have arrived. SQLite keeps that
 * table in a file of its own, which ends with the process, so neither the log nor the memory holds them meanwhile.
 */
class StagedAdoption implements Disposable {
  readonly sessionId: SessionId;
  readonly #db: DatabaseSync;
  readonly #table: string;
  readonly #insert: StatementSync;
  readonly #copy: StatementSync;
  /** The last seq of each part that was staged. */
  readonly #partEnds: number[] = [];
  #storedParts = 0;
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
    const columns = 'seq, time, type, data, hash';
    this.#copy = db.prepare(
      `INSERT INTO events (session, ${columns}) SELECT ?, ${columns} FROM ${this.#table} WHERE seq > ? AND seq <= ? ORDER BY seq`,
    );
  }

  /** The seq of its last event so far. */
  get head(): number {
    return this.#head;
  }

  /** Call it in a transaction, or each event becomes a transaction of its own. */
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
    this.#partEnds.push(this.#head);
  }

  /** Copies the next part into the log. @returns whether there are more. */
  storeSome(): boolean {
    const end = this.#partEnds[this.#storedParts] ?? this.#head;
    this.#copy.run(this.sessionId, this.#partEnds[this.#storedParts - 1] ?? 0, end);
    this.#storedParts += 1;
    return end < this.#head;
  }

  /** The session's row for the index. */
  indexed(open: boolean): IndexedSession {
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
