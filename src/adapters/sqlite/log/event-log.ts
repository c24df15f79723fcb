import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type LogSize,
  PAGE_CHARACTERS,
  requireForkPoint,
  type SessionSummary,
} from '../../../ports/event-store.ts';
import type { LogCopy } from '../../../ports/log-backup.ts';
import type { AppendRequest, Refusal } from '../../../stored-log/append-request.ts';
import { chainHash, chainStart } from '../../../stored-log/chain.ts';
import { newBackupFile } from '../file/data-directory.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import { DamagedLogError } from '../file/log-damage.ts';
import { packed } from '../file/packed-events.ts';
import { marks } from '../file/schema.ts';
import { explainSqliteError, isSqliteError } from '../file/sqlite-errors.ts';
import { EventCount } from '../index/event-count.ts';
import { IncompleteStreams } from '../index/incomplete-streams.ts';
import { SessionIndex } from '../index/session-index.ts';
import { TitleIndex } from '../index/title-index.ts';
import { VerifiedRows } from '../integrity/verified-rows.ts';
import { WalMarks } from '../integrity/wal-marks.ts';
import { createPrivately } from '../open/create-privately.ts';
import type { Database } from '../open/open-database.ts';
import { CopiedRows } from './copied-rows.ts';
import { StagedAdoptions } from './staged-adoption.ts';
import { type NewStream, StepwiseStreams } from './stepwise-streams.ts';
import { removeUnfetched } from './unfetched-backups.ts';
import type {
  AdoptCall,
  Adopted,
  AdoptionBegun,
  BatchCommitted,
  EraseCall,
  ForkCall,
  Forked,
  Ids,
  IdsCall,
  ListCall,
  Page,
  ReadCall,
  StageCall,
  Summaries,
} from './worker-protocol.ts';

/** One step of a backup is a megabyte. Appends wait for one step at most. */
const PAGES_PER_STEP = 256;

/** The log inside the worker: synchronous, one transaction per batch. */
export class EventLog implements Disposable {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #index: SessionIndex;
  readonly #titles: TitleIndex;
  readonly #rows: VerifiedRows;
  /** Null if the log is only read. */
  readonly #marks: WalMarks | null;
  readonly #close: () => void;
  readonly #insert: StatementSync;
  readonly #incomplete: IncompleteStreams;
  readonly #steps: StepwiseStreams;
  readonly #adoptions: StagedAdoptions;
  readonly #count: EventCount;
  #lastCommitMs = 0;

  /** @param notify gets messages for the operator, about problems that make no append fail. */
  constructor(database: Database, notify: (notice: string) => void) {
    const { db, file, heads, notices, close } = database;
    this.#db = db;
    this.#file = file;
    this.#index = new SessionIndex(db);
    this.#titles = new TitleIndex(db);
    this.#incomplete = new IncompleteStreams(db);
    this.#steps = new StepwiseStreams(this.#incomplete, (attempt, work) => this.#step(attempt, work), notify);
    this.#rows = new VerifiedRows({ db, file, index: this.#index, incomplete: this.#incomplete });
    this.#marks = heads && new WalMarks({ db, file, heads }, notify);
    this.#close = close;
    this.#insert = db.prepare(
      'INSERT INTO events (session, seq, time, type, data, hash) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#adoptions = new StagedAdoptions(db);
    this.#count = new EventCount(db);
    for (const notice of notices) notify(notice);
  }

  /** Stores the appends one after the other, and refuses each whose expected seq does not match at that moment. */
  append(batch: readonly AppendRequest[]): BatchCommitted {
    const time = Date.now();
    const refused: Refusal[] = [];
    const heads = new Map<string, number>();
    let events = 0;
    this.#transact('append to', () => {
      for (const [index, append] of batch.entries()) {
        const refusal = this.#store(append, time);
        if (refusal !== undefined) refused.push({ index, ...refusal });
        else if (append.data.length > 0) heads.set(append.sessionId, append.expectedSeq + append.data.length);
        if (refusal === undefined) events += append.data.length;
      }
    });
    this.#count.add(events);
    this.#marks?.record(heads);
    return { type: 'committed', time, appends: batch.length, syncMs: this.#lastCommitMs, refused };
  }

  read({ sessionId, afterSeq, maxRows }: ReadCall): Page {
    return this.#explained('read', () => {
      const rows: unknown[] = [];
      let characters = 0;
      for (const { seq, time, data } of this.#rows.after(sessionId, afterSeq, maxRows)) {
        rows.push({ seq, time, data });
        characters += data.length;
        if (characters >= PAGE_CHARACTERS) return { type: 'page', rows, last: false };
      }
      return { type: 'page', rows, last: rows.length < maxRows };
    });
  }

  list({ filter }: ListCall): Summaries {
    return this.#explained('read', () => {
      const summaries = this.#checked(() => this.#index.list(filter));
      return {
        type: 'summaries',
        summaries: summaries.map(({ hash: _, ...summary }) => this.#titled(summary)),
      };
    });
  }

  ids({ after, limit }: IdsCall): Ids {
    return this.#explained('read', () => ({ type: 'ids', ids: this.#index.ids(after, limit) }));
  }

  /** A long session is copied in steps, see `StepwiseStreams`. */
  async fork({ from, at, to, title, open, types, data }: ForkCall): Promise<Forked> {
    const actual = this.#explained('append to', () => {
      requireForkPoint(from, at, this.#headOf(from));
      return this.#headOf(to) || this.#steps.headOf(to);
    });
    if (actual > 0) return { type: 'forked', actual };
    const copy = new CopiedRows({ from, at, to }, this.#rows, this.#insert);
    await this.#storeStream({
      streamId: to,
      head: at + data.length,
      from,
      storeSome: () => copy.storeSome(),
      publish: () => {
        const time = Date.now();
        const { hash } = copy;
        this.#index.put({ sessionId: to, head: at, hash, createdAt: time, updatedAt: time, open });
        this.#store({ sessionId: to, expectedSeq: at, types, data, open, title }, time);
      },
    });
    return { type: 'forked', actual: 0 };
  }

  beginAdoption(sessionId: string): AdoptionBegun {
    return this.#explained('append to', () => ({
      type: 'adoption-begun',
      adoption: this.#adoptions.begin(sessionId),
      actual: this.#headOf(sessionId) || this.#steps.headOf(sessionId),
    }));
  }

  stage(call: StageCall): void {
    this.#transact('append to', () => this.#adoptions.find(call.adoption).stage(call));
  }

  async adopt({ adoption, open, title }: AdoptCall): Promise<Adopted> {
    const staged = this.#adoptions.find(adoption);
    const { sessionId: streamId, head } = staged;
    const actual = this.#explained('append to', () => this.#headOf(streamId) || this.#steps.headOf(streamId));
    if (actual > 0 || head === 0) return { type: 'adopted', head, actual };
    await this.#storeStream({
      streamId,
      head,
      storeSome: () => staged.storeSome(),
      publish: () => {
        this.#index.put(staged.indexed(open));
        this.#titles.put(streamId, title);
      },
    });
    return { type: 'adopted', head, actual: 0 };
  }

  endAdoption(adoption: number): void {
    this.#explained('append to', () => this.#adoptions.end(adoption));
  }

  /** Erases damaged sessions too. May be called again when an earlier call was interrupted. */
  async erase({ sessionIds }: EraseCall): Promise<void> {
    // A session that is being stored is not there yet.
    const ids = sessionIds.filter((sessionId) => this.#steps.headOf(sessionId) === 0);
    const inSteps = this.#steps.giveUpCopiesOf(ids);
    const heads = this.#explained('erase from', () => this.#index.storedHeads(ids));
    this.#explained('erase from', () => this.#marks?.announceErased(ids));
    try {
      this.#transact('erase from', () => {
        for (const sessionId of ids) {
          const head = this.#index.remove(sessionId);
          this.#titles.remove(sessionId);
          if (this.#incomplete.remove(sessionId, head)) inSteps.push(sessionId);
        }
      });
    } catch (error) {
      this.#marks?.record(heads);
      throw error;
    }
    for (const head of heads.values()) this.#count.add(-head);
    for (const sessionId of inSteps) await this.#steps.remove(sessionId);
    // The WAL still contains the erased events.
    this.#explained('erase from', () => this.#marks?.emptyWal());
  }

  measure(): LogSize {
    return this.#explained('measure', () => ({
      databaseBytes: statSync(this.#file).size,
      // The file does not exist before the first commit.
      walBytes: statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      events: this.#count.read(),
    }));
  }

  /**
   * Copies the database as it is when the last page is copied. The steps run in a thread of their own, and a commit
   * between two steps changes the copy, too.
   */
  async backup(): Promise<LogCopy> {
    const directory = dirname(this.#file);
    const file = newBackupFile(directory);
    try {
      removeUnfetched(directory);
      createPrivately(file);
      await loadSqlite().backup(this.#db, file, { rate: PAGES_PER_STEP });
      return { file, bytes: statSync(file).size };
    } catch (error) {
      rmSync(file, { force: true });
      throw explainSqliteError(error, file, 'write');
    }
  }

  /** Call it after the reply is sent: the caller's events are on disk, so nobody should wait for this. */
  checkpoint(leastFrames = 1_000): void {
    this.#marks?.checkpoint(leastFrames);
  }

  /** Rewrites the file's marks unchanged. The page takes the same way to the disk as an append. */
  probe(): void {
    this.#transact('write to', () => this.#db.exec(marks));
    this.#marks?.record(new Map());
  }

  [Symbol.dispose](): void {
    // Closing would empty the WAL too, but would not report a failure.
    this.#explained('close', () => this.#marks?.emptyWal());
    this.#close();
    this.#marks?.[Symbol.dispose]();
  }

  /** The seq of the session's last event; 0 if there is none. */
  #headOf(sessionId: string): number {
    return this.#checked(() => this.#index.find(sessionId))?.head ?? 0;
  }

  async #storeStream(stream: NewStream): Promise<void> {
    await this.#steps.store(stream);
    const { streamId, head } = stream;
    this.#count.add(head);
    this.#marks?.record(new Map([[streamId, head]]));
  }

  /** One of several transactions of one work. */
  #step<T>(attempt: string, work: () => T): T {
    const result = this.#transact(attempt, work);
    this.#marks?.record(new Map());
    this.checkpoint();
    return result;
  }

  #store(append: AppendRequest, time: number): { actual: number } | { error: Error } | undefined {
    const { sessionId, expectedSeq, data, open, title } = append;
    let session: ReturnType<SessionIndex['find']>;
    try {
      session = this.#checked(() => this.#index.find(sessionId));
      if (session === undefined) this.#requireNone(sessionId);
    } catch (error) {
      if (error instanceof DamagedLogError) return { error };
      throw error;
    }
    const actual = session?.head ?? this.#steps.headOf(sessionId);
    if (actual !== expectedSeq) return { actual };
    const head = expectedSeq + data.length;
    if (head === 0) return undefined;
    let hash = session?.hash ?? chainStart;
    for (const row of packed(expectedSeq, time, append)) {
      hash = chainHash(hash, sessionId, row);
      this.#insert.run(sessionId, row.seq, time, row.type, row.data, hash);
    }
    this.#index.put({
      sessionId,
      head,
      hash,
      createdAt: session?.createdAt ?? time,
      updatedAt: data.length > 0 ? time : (session?.updatedAt ?? time),
      open: open ?? session?.open ?? false,
    });
    this.#titles.put(sessionId, title);
    return undefined;
  }

  /** Throws if events of the session are left, though the index does not have it. */
  #requireNone(sessionId: string): void {
    if (this.#incomplete.has(sessionId) && this.#steps.headOf(sessionId) === 0)
      this.#incomplete.removeAll(sessionId);
    this.#rows.requireNone(sessionId);
  }

  #titled(summary: SessionSummary): SessionSummary {
    const title = this.#titles.find(summary.sessionId);
    return title === undefined ? summary : { ...summary, title };
  }

  #transact<T>(attempt: string, work: () => T): T {
    return this.#explained(attempt, () => {
      try {
        this.#db.exec('BEGIN IMMEDIATE');
        const result = work();
        const begun = performance.now();
        this.#db.exec('COMMIT');
        this.#lastCommitMs = performance.now() - begun;
        return result;
      } catch (error) {
        this.#index.forget();
        this.#incomplete.forget();
        // SQLite itself rolls back after some errors.
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** Turns an error of the index into a `DamagedLogError`. Errors of SQLite may have other causes. */
  #checked<T>(ask: () => T): T {
    try {
      return ask();
    } catch (error) {
      if (isSqliteError(error)) throw error;
      throw new DamagedLogError(this.#file, String(error), { cause: error });
    }
  }

  #explained<T>(attempt: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explainSqliteError(error, this.#file, attempt);
    }
  }
}
