import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { integerOf } from '../file/columns.ts';
import type { HeadFile } from './head-file.ts';

interface MarkedDatabase {
  readonly db: DatabaseSync;
  /** Path of the database; the WAL is beside it. */
  readonly file: string;
  readonly heads: HeadFile;
}

/** Checkpoints the WAL, and keeps the file of high-water marks in step with it. */
export class WalMarks implements Disposable {
  readonly #db: DatabaseSync;
  readonly #walFile: string;
  readonly #heads: HeadFile;
  readonly #notify: (notice: string) => void;
  readonly #walState: StatementSync;
  readonly #checkpoint: StatementSync;
  /** Frames of a completely checkpointed WAL, until a commit restarts the WAL; 0 otherwise. */
  #checkpointedFrames = 0;
  #isStuck = false;

  constructor({ db, file, heads }: MarkedDatabase, notify: (notice: string) => void) {
    this.#db = db;
    this.#walFile = `${file}-wal`;
    this.#heads = heads;
    this.#notify = notify;
    this.#walState = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /**
   * Records the new seq of each session of a commit. Call it after the commit. It never throws, because the commit
   * stands: a failure goes to the operator.
   */
  record(heads: ReadonlyMap<SessionId, number>): void {
    try {
      this.#resetIfWalRestarted();
      if (heads.size > 0) this.#heads.record(heads);
    } catch (error) {
      this.#notify(`event log: cannot write the high-water marks: ${String(error)}`);
    }
  }

  /** Moves the WAL into the database if it has at least this many frames. The next commit restarts the WAL. */
  checkpoint(leastFrames: number): void {
    try {
      if (integerOf(this.#walState.get()?.log) < leastFrames) return;
      const { log, checkpointed } = this.#checkpoint.get() ?? {};
      this.#checkpointedFrames = log === checkpointed ? integerOf(log) : 0;
      this.#isStuck = false;
    } catch (error) {
      // A checkpoint that fails would fail again after each commit, so the operator is told once.
      if (!this.#isStuck) this.#notify(`event log: cannot move the WAL into the database: ${String(error)}`);
      this.#isStuck = true;
    }
  }

  /** Syncs seq 0 for sessions before they are erased: with their old marks they would count as lost. */
  announceErased(sessionIds: readonly SessionId[]): void {
    this.#heads.record(new Map(sessionIds.map((sessionId) => [sessionId, 0])));
    this.#heads.sync();
  }

  /** Moves all of the WAL into the database and truncates the WAL file, down to the disk. */
  emptyWal(): void {
    const state = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (state?.busy !== 0) throw new Error('the write-ahead log could not be emptied');
    this.#syncWal();
    this.#heads.reset();
    this.#checkpointedFrames = 0;
  }

  [Symbol.dispose](): void {
    this.#heads[Symbol.dispose]();
  }

  /** SQLite does not sync the truncation. A power loss could bring back a WAL with erased events. */
  #syncWal(): void {
    // The file does not exist before the first commit.
    if (!existsSync(this.#walFile)) return;
    const descriptor = openSync(this.#walFile, 'r+');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /**
   * Resets the marks once a commit after a checkpoint has restarted the WAL. Until then a flipped bit in the old WAL
   * can still undo what was checkpointed.
   */
  #resetIfWalRestarted(): void {
    if (this.#checkpointedFrames === 0) return;
    if (integerOf(this.#walState.get()?.log) < this.#checkpointedFrames) this.#heads.reset();
    this.#checkpointedFrames = 0;
  }
}
