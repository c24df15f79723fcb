import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { HeadFile, headFilePath, type RecordedHeads, readHeads } from '../integrity/head-file.ts';
import { inspect, vanished } from '../integrity/inspection.ts';
import { repairedFile } from '../repair/repaired-file.ts';
import { createPrivately } from './create-privately.ts';
import { isAbsent } from './is-absent.ts';
import { loadSqlite } from './load-sqlite.ts';
import { migrate } from './migration.ts';
import { requireUsable } from './require-usable.ts';
import { type Identity, identify, marks, tables } from './schema.ts';
import { explainSqliteError, isBusy } from './sqlite-errors.ts';

/** Two services that start together wait this long for each other before one of them gives up. */
const lockTimeoutMs = 200;

export interface Database {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly heads: HeadFile;
  /** What an operator should know about the file as it was found. */
  readonly notices: readonly string[];
}

/**
 * Opens the event log of a data directory for this process alone; creates both when absent.
 * What is not an event log, of a newer version, or damaged is refused and left as it is.
 */
export function openDatabase(dataDirectory: string): Database {
  const directory = resolve(dataDirectory);
  const file = join(directory, 'events.db');
  requireUsable(directory);
  const recorded = readHeads(directory);
  if (recorded !== undefined && isAbsent(file)) throw vanished(file, recorded);
  createPrivately(file);
  if (existsSync(repairedFile(directory))) {
    throw new Error(
      `a repair of ${file} was cut off; run it again: agent-service repair --data-dir ${directory}`,
    );
  }
  try {
    inspect(file, recorded);
    const { db, found } = lockAndPrepare(file);
    return { db, file, heads: new HeadFile(directory), notices: notices(directory, recorded, found) };
  } catch (error) {
    if (isBusy(error)) {
      const message = `data directory ${directory} is in use by another agent-service; stop it, or choose another with --data-dir`;
      throw new Error(message, { cause: error });
    }
    throw explainSqliteError(error, file, 'open');
  }
}

function lockAndPrepare(file: string): { db: DatabaseSync; found: Identity } {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(file, { timeout: lockTimeoutMs });
  try {
    // What is erased is overwritten. Exclusive, set before the first use of the WAL, keeps the file locked
    // until it is closed, or until the process dies: the kernel drops the lock then.
    db.exec('PRAGMA secure_delete = ON; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const found = identify(db, file);
    if (found === 'empty') db.exec(tables + marks);
    if (found === 'version 1') migrate(db, file);
    db.exec('COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
    // On macOS a plain fsync leaves data in the cache of the drive. Elsewhere these do nothing.
    db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    return { db, found };
  } catch (error) {
    db.close();
    throw error;
  }
}

function notices(directory: string, recorded: RecordedHeads | undefined, found: Identity): string[] {
  const file = headFilePath(directory);
  const lines = recorded?.unreadable ?? 0;
  return [
    ...(found === 'version 1' ? ['event log: brought from version 1 to the current one'] : []),
    ...(found === 'current' && recorded === undefined
      ? [`event log: ${file} is missing, so a loss of the last appends before this start would go unseen`]
      : []),
    ...(lines > 0 ? [`event log: ${lines} lines of ${file} cannot be read, as after a crash`] : []),
  ];
}
