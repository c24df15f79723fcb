import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { integerOf } from '../file/columns.ts';
import type { Database } from '../file/database.ts';
import type { HeadFile } from './head-file.ts';

/** Keeps the file of high-water marks in step with the WAL whose commits it vouches for. */
export class WalMarks implements Disposable {
  readonly #db: DatabaseSync;
  readonly #walFile: string;
  readonly #heads: HeadFile;
  readonly #notify: (notice: string) => void;
  readonly #walState: StatementSync;
  readonly #checkpoint: StatementSync;
  /** The frames of a WAL that was moved into the database as a whole, and that no commit has begun anew yet. */
  #movedFrames = 0;
  #isStuck = false;

  constructor({ db, file, heads }: Database, notify: (notice: string) => void) {
    this.#db = db;
    this.#walFile = `${file}-wal`;
    this.#heads = heads;
    this.#notify = notify;
    this.#walState = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /**
   * Call it after the commit, with the seq that each of its sessions is at. The commit stands, so a failure
   * here does not undo it.
   */
  record(heads: ReadonlyMap<SessionId, number>): void {
    try {
      this.#resetWhenWalBegan();
      if (heads.size > 0) this.#heads.record(heads);
    } catch (error) {
      this.#notify(`event log: cannot write the high-water marks: ${String(error)}`);
    }
  }

  /** Moves the WAL into the database when it has so many frames; the next commit begins it anew. */
  checkpoint(leastFrames: number): void {
    try {
      if (integerOf(this.#walState.get()?.log) < leastFrames) return;
      const { log, checkpointed } = this.#checkpoint.get() ?? {};
      this.#movedFrames = log === checkpointed ? integerOf(log) : 0;
      this.#isStuck = false;
    } catch (error) {
      // What fails now fails again after each commit, and is told once.
      if (!this.#isStuck) this.#notify(`event log: cannot move the WAL into the database: ${String(error)}`);
      this.#isStuck = true;
    }
  }

  /** On disk before the sessions are erased: their old marks would say that they were lost. */
  announceErased(sessionIds: readonly SessionId[]): void {
    this.#heads.record(new Map(sessionIds.map((sessionId) => [sessionId, 0])));
    this.#heads.sync();
  }

  /** Moves all of the WAL into the database, and cuts it to nothing, for good. */
  emptyWal(): void {
    const state = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (state?.busy !== 0) throw new Error('the write-ahead log could not be emptied');
    this.#syncWal();
    this.#heads.reset();
    this.#movedFrames = 0;
  }

  [Symbol.dispose](): void {
    this.#heads[Symbol.dispose]();
  }

  /** SQLite does not: a loss of power could bring back a WAL that has what was erased. */
  #syncWal(): void {
    // There is none before the first commit.
    if (!existsSync(this.#walFile)) return;
    const descriptor = openSync(this.#walFile, 'r+');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /**
   * Only a commit after a checkpoint begins the WAL anew. The marks are not reset earlier: until then a flipped
   * bit in the old WAL still takes back what was checkpointed.
   */
  #resetWhenWalBegan(): void {
    if (this.#movedFrames === 0) return;
    if (integerOf(this.#walState.get()?.log) < this.#movedFrames) this.#heads.reset();
    this.#movedFrames = 0;
  }
}
