import type { SessionId } from '../../../core/ids.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Snapshot, SnapshotStore } from '../../../ports/snapshot-store.ts';
import { checksum } from '../../../stored-log/checksum.ts';
import { nextLoop } from '../../../timing/next-loop.ts';
import { SerialQueue } from '../../../timing/serial-queue.ts';
import { integerOf, textOf } from '../file/columns.ts';
import { isCorrupt } from '../file/sqlite-errors.ts';
import { openSnapshotFile, type SnapshotFile } from './snapshot-file.ts';

export interface SqliteSnapshotStoreOptions {
  /** The data directory. The event store creates it, and locks it for one process. */
  readonly directory: string;
  readonly log: Logger;
}

/** Keeps snapshots in `snapshots.db`, which may be deleted at any time. The file is opened by the first use. */
export function sqliteSnapshotStore(options: SqliteSnapshotStoreOptions): SnapshotStore {
  return new SqliteSnapshotStore(options);
}

/**
 * Works in the main thread, one call after the other and one part at a time. Only an erasure is synced, so nothing else
 * waits for a disk. Each part has a checksum; a damaged file is discarded.
 */
class SqliteSnapshotStore implements SnapshotStore {
  readonly #directory: string;
  readonly #log: Logger;
  #file: SnapshotFile | undefined;
  readonly #queue = new SerialQueue();
  #closed = false;

  constructor({ directory, log }: SqliteSnapshotStoreOptions) {
    this.#directory = directory;
    this.#log = log;
  }

  load(sessionId: SessionId, latestSeq = Infinity): Promise<Snapshot | undefined> {
    return this.#inTurn((file) => readSnapshot(file, sessionId, latestSeq));
  }

  async save(sessionId: SessionId, seq: number, parts: AsyncIterable<string>): Promise<void> {
    await this.#inTurn((file) => writeSnapshot(file, sessionId, seq, parts));
  }

  async erase(sessionId: SessionId): Promise<void> {
    await this.#inTurn(async (file) => {
      file.db.exec('PRAGMA synchronous = FULL; BEGIN');
      file.remove.run(sessionId);
      file.removeParts.run(sessionId);
      file.db.exec('COMMIT; PRAGMA synchronous = OFF');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#queue.settled();
    this.#file?.db.close();
    this.#file = undefined;
  }

  /** Runs calls one after the other: a call is one transaction, but takes several turns of the event loop. */
  #inTurn<T>(work: (file: SnapshotFile) => Promise<T>): Promise<T | undefined> {
    if (this.#closed) return Promise.reject(new Error('the snapshot store is closed'));
    return this.#queue.run(() => this.#orAnew(work));
  }

  /** Resolves to undefined when the file was damaged and had to be replaced. */
  async #orAnew<T>(work: (file: SnapshotFile) => Promise<T>): Promise<T | undefined> {
    this.#file ??= openSnapshotFile(this.#directory, this.#log);
    const { db } = this.#file;
    try {
      return await work(this.#file);
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      if (!isCorrupt(error) && !(error instanceof DamagedSnapshotError)) throw error;
      this.#log.warn(
        { err: error },
        'the snapshots are damaged and were deleted; sessions load more slowly until there are new ones',
      );
      db.close();
      this.#file = openSnapshotFile(this.#directory, this.#log, 'anew');
      return undefined;
    }
  }
}

class DamagedSnapshotError extends Error {}

async function readSnapshot(
  file: SnapshotFile,
  sessionId: SessionId,
  latestSeq: number,
): Promise<Snapshot | undefined> {
  const row = file.find.get(sessionId);
  if (row === undefined) return undefined;
  const { seq, parts: count } = row;
  const damaged = (): Error => new DamagedSnapshotError(`the snapshot of session ${sessionId} is damaged`);
  if (row.check !== checkOf(sessionId, seq, count)) throw damaged();
  if (integerOf(seq) > latestSeq) return undefined;
  const parts: string[] = [];
  while (parts.length < integerOf(count)) {
    const part = file.part.get(sessionId, parts.length);
    if (part?.check !== checkOf(sessionId, seq, parts.length, part?.text)) throw damaged();
    parts.push(textOf(part?.text));
    await nextLoop();
  }
  return { seq: integerOf(seq), parts };
}

async function writeSnapshot(
  file: SnapshotFile,
  sessionId: SessionId,
  seq: number,
  parts: AsyncIterable<string>,
): Promise<void> {
  file.db.exec('BEGIN');
  file.removeParts.run(sessionId);
  let count = 0;
  for await (const text of parts) {
    file.putPart.run(sessionId, count, text, checkOf(sessionId, seq, count, text));
    count += 1;
  }
  file.put.run(sessionId, seq, count, checkOf(sessionId, seq, count));
  file.db.exec('COMMIT');
}

function checkOf(...fields: readonly unknown[]): string {
  return checksum(fields.join('\n'));
}
