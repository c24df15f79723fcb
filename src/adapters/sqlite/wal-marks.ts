import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../contract/ids.ts';
import { integerOf } from './columns.ts';
import type { HeadFile } from './head-file.ts';

/** Keeps the file of high-water marks in step with the WAL whose commits it vouches for. */
export class WalMarks implements Disposable {
  readonly #db: DatabaseSync;
  readonly #heads: HeadFile;
  readonly #notify: (notice: string) => void;
  readonly #walState: StatementSync;
  #walFrames: number;

  constructor(db: DatabaseSync, heads: HeadFile, notify: (notice: string) => void) {
    this.#db = db;
    this.#heads = heads;
    this.#notify = notify;
    this.#walState = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#walFrames = this.#countFrames();
  }

  /**
   * Call it after the commit, with the seq that each of its sessions is at. The commit stands, so a failure
   * here does not undo it.
   */
  record(heads: ReadonlyMap<SessionId, number>): void {
    try {
      const frames = this.#countFrames();
      // The commit began the WAL anew, after a checkpoint of all before it. Not earlier: until then a
      // flipped bit in the old WAL still takes back what was checkpointed.
      if (frames < this.#walFrames) this.#heads.reset();
      this.#walFrames = frames;
      if (heads.size > 0) this.#heads.record(heads);
    } catch (error) {
      this.#notify(`event log: cannot write the high-water marks: ${String(error)}`);
    }
  }

  /** On disk before the sessions are erased: their old marks would say that they were lost. */
  announceErased(sessionIds: readonly SessionId[]): void {
    this.#heads.record(new Map(sessionIds.map((sessionId) => [sessionId, 0])));
    this.#heads.sync();
  }

  /** Moves all of the WAL into the database, and cuts it to nothing. */
  emptyWal(): void {
    const state = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (state?.busy !== 0) throw new Error('the write-ahead log could not be emptied');
    this.#heads.reset();
    this.#walFrames = 0;
  }

  [Symbol.dispose](): void {
    this.#heads[Symbol.dispose]();
  }

  #countFrames(): number {
    return integerOf(this.#walState.get()?.log);
  }
}
