import { hash } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';
import type { SessionId } from '../../contract/ids.ts';
import type { Log } from '../../ports/log.ts';
import type { Snapshot, SnapshotStore } from '../../ports/snapshot-store.ts';
import { openSnapshotFile, type SnapshotFile } from './snapshot-file.ts';
import { isCorrupt } from './sqlite-errors.ts';

export interface SqliteSnapshotStoreOptions {
  /** The data directory. It is made, and held for one process alone, by the event store. */
  readonly directory: string;
  readonly log: Log;
}

/** Snapshots in `snapshots.db`, which may be deleted at any time. Rejects when another process has it. */
export async function openSqliteSnapshotStore(options: SqliteSnapshotStoreOptions): Promise<SnapshotStore> {
  return new SqliteSnapshotStore(options);
}

/**
 * Works in the thread that calls it: nothing waits for a disk but an erasure, because nothing else is synced.
 * Each row has a checksum, and what is damaged is thrown away.
 */
class SqliteSnapshotStore implements SnapshotStore {
  readonly #directory: string;
  readonly #log: Log;
  #file: SnapshotFile | undefined;

  constructor({ directory, log }: SqliteSnapshotStoreOptions) {
    this.#directory = directory;
    this.#log = log;
    this.#file = openSnapshotFile(directory, log);
  }

  async load(sessionId: SessionId): Promise<Snapshot | undefined> {
    return this.#orAnew((file) => {
      const row = file.select.get(sessionId);
      return row && parseSnapshot(sessionId, row);
    });
  }

  async save(sessionId: SessionId, seq: number, state: unknown): Promise<void> {
    const json = JSON.stringify(state) ?? 'null';
    this.#orAnew((file) => file.upsert.run(sessionId, seq, json, checksum(sessionId, seq, json)));
  }

  async erase(sessionId: SessionId): Promise<void> {
    this.#orAnew((file) => {
      file.db.exec('PRAGMA synchronous = FULL');
      file.remove.run(sessionId);
      file.db.exec('PRAGMA synchronous = OFF');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#file?.db.close();
    this.#file = undefined;
  }

  /** A cache that is damaged begins anew, and gives nothing. */
  #orAnew<T>(work: (file: SnapshotFile) => T): T | undefined {
    if (this.#file === undefined) throw new Error('the snapshot store is closed');
    try {
      return work(this.#file);
    } catch (error) {
      if (!isCorrupt(error) && !(error instanceof DamagedSnapshotError)) throw error;
      this.#log.warn({ err: error }, 'snapshots are damaged, and begin anew: sessions load more slowly');
      this.#file.db.close();
      this.#file = openSnapshotFile(this.#directory, this.#log, 'anew');
      return undefined;
    }
  }
}

class DamagedSnapshotError extends Error {}

function parseSnapshot(sessionId: SessionId, row: Record<string, SQLOutputValue>): Snapshot {
  const { seq, state, check } = row;
  if (typeof seq !== 'number' || typeof state !== 'string' || check !== checksum(sessionId, seq, state)) {
    throw new DamagedSnapshotError(`the snapshot of session ${sessionId} is not what was saved`);
  }
  return { seq, state: JSON.parse(state) };
}

function checksum(sessionId: SessionId, seq: number, json: string): string {
  return hash('sha256', `${sessionId}\n${seq}\n${json}`, 'base64').slice(0, 22);
}
