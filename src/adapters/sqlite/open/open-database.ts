import { existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import {
  backupFiles,
  type DatabaseUse,
  DirectoryInUseError,
  headFilePath,
  isAbsent,
  logFile,
  repairedFile,
  requireUsable,
} from '../file/data-directory.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import { openReadOnly, type ReadOnlyDatabase } from '../file/read-only.ts';
import {
  addLaterTables,
  type Identity,
  identify,
  isChained,
  laterTables,
  marks,
  tables,
  tablesIn,
} from '../file/schema.ts';
import { explainSqliteError, isBusy } from '../file/sqlite-errors.ts';
import { removeIncomplete } from '../index/incomplete-streams.ts';
import { HeadFile, type RecordedHeads, readHeads } from '../integrity/head-file.ts';
import { createPrivately } from './create-privately.ts';
import { inspect, vanished } from './inspection.ts';
import { migrate, migrateToRead } from './migration.ts';

/** Longest wait for the lock of another service, for two that start together. */
const lockTimeoutMs = 200;

export interface Database {
  readonly db: DatabaseSync;
  readonly file: string;
  /** Null if the log is only read. */
  readonly heads: HeadFile | null;
  /** For the operator: what was found at the opening. */
  readonly notices: readonly string[];
  readonly close: () => void;
}

/**
 * Opens the event log of a data directory for this process alone. To write it, creates log and directory when absent. Throws,
 * and changes nothing, when the file is not an event log, of a newer version, or damaged.
 */
export function openDatabase(dataDirectory: string, use: DatabaseUse = 'write'): Database {
  const directory = resolve(dataDirectory);
  const file = logFile(directory);
  requireUsable(directory, use);
  const recorded = readHeads(directory);
  if (recorded !== undefined && isAbsent(file)) throw vanished(file, recorded);
  if (use === 'write') createPrivately(file);
  requireNoRepair(directory);
  try {
    const { ino } = statSync(file);
    inspect(file, recorded, use);
    const confirm = (): void => {
      // A repair may have ended since, and its file replaces this one.
      requireNoRepair(directory);
      if (statSync(file).ino !== ino) throw new Error(`${file} was replaced meanwhile; start again`);
    };
    if (use === 'read') return { ...openToRead(file, confirm), file, heads: null, notices: [] };
    const { db, found } = lockAndPrepare(file, confirm);
    // Nobody fetches a copy from an earlier service, which takes as much space as the log.
    for (const copy of backupFiles(directory)) rmSync(copy, { force: true });
    const heads = new HeadFile(directory);
    return { db, file, heads, notices: notices(directory, recorded, found), close: () => db.close() };
  } catch (error) {
    if (isBusy(error)) throw new DirectoryInUseError(directory, error);
    throw explainSqliteError(error, file, 'open');
  }
}

function requireNoRepair(directory: string): void {
  if (!existsSync(repairedFile(directory))) return;
  throw new Error(
    `a repair of ${logFile(directory)} was interrupted; run it again: agent-service repair --data-dir ${directory}`,
  );
}

/** @param confirm throws if the locked file is no longer the one to open. */
function lockAndPrepare(file: string, confirm: () => void): { db: DatabaseSync; found: Identity } {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(file, { timeout: lockTimeoutMs });
  try {
    // `secure_delete` overwrites erased data. The exclusive mode, set before the first use of the WAL, locks the
    // file until it is closed or the process dies.
    db.exec('PRAGMA secure_delete = ON; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    confirm();
    const found = identify(db, file);
    if (found === 'empty') db.exec(tables + marks);
    if (found === 'version 1') migrate(db, file);
    // Rows of version 2 are rows of this version, too.
    if (found === 'version 2') db.exec(marks);
    db.exec(laterTables);
    const isCleaned = removeIncomplete(db);
    db.exec('COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
    // On macOS a plain fsync leaves data in the cache of the drive. Elsewhere these settings do nothing.
    db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    // The WAL still contains what was removed.
    if (isCleaned) db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return { db, found };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The release that wrote the log can go on with it: what it lacks is added for this connection alone. */
function openToRead(file: string, confirm: () => void): ReadOnlyDatabase {
  const opened = openReadOnly(file, 'locked if possible');
  const { db } = opened;
  try {
    confirm();
    const found = identify(db, file);
    if (found === 'empty') db.exec(tablesIn('temp'));
    if (found === 'version 1') migrateToRead(db, file);
    addLaterTables(db);
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

function notices(directory: string, recorded: RecordedHeads | undefined, found: Identity): string[] {
  const file = headFilePath(directory);
  const lines = recorded?.unreadable ?? 0;
  return [
    ...(found === 'version 1' ? ['event log: migrated from version 1 to the current version'] : []),
    ...(isChained(found) && recorded === undefined
      ? [`event log: ${file} is missing, so a loss of the last appends before this start cannot be detected`]
      : []),
    ...(lines > 0
      ? [`event log: ${lines} lines of ${file} cannot be read, for example because of a crash`]
      : []),
  ];
}
