import { existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import {
  backupFile,
  DirectoryInUseError,
  headFilePath,
  isAbsent,
  logFile,
  repairedFile,
  requireUsable,
} from '../file/data-directory.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import {
  type Identity,
  identify,
  incompleteTable,
  isChained,
  marks,
  tables,
  titlesTable,
} from '../file/schema.ts';
import { explainSqliteError, isBusy } from '../file/sqlite-errors.ts';
import { removeIncomplete } from '../index/incomplete-streams.ts';
import { HeadFile, type RecordedHeads, readHeads } from '../integrity/head-file.ts';
import { createPrivately } from './create-privately.ts';
import { inspect, vanished } from './inspection.ts';
import { migrate } from './migration.ts';

/** Longest wait for the lock of another service, for two that start together. */
const lockTimeoutMs = 200;

/** `read` leaves a log of version 2 as it is. It locks the log nevertheless. */
export type DatabaseUse = 'read' | 'write';

export interface Database {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly heads: HeadFile;
  /** For the operator: what was found at the opening. */
  readonly notices: readonly string[];
}

/**
 * Opens the event log of a data directory for this process alone. Creates log and directory when absent. Throws, and
 * changes nothing, when the file is not an event log, of a newer version, or damaged.
 */
export function openDatabase(dataDirectory: string, use: DatabaseUse = 'write'): Database {
  const directory = resolve(dataDirectory);
  const file = logFile(directory);
  requireUsable(directory);
  const recorded = readHeads(directory);
  if (recorded !== undefined && isAbsent(file)) throw vanished(file, recorded);
  createPrivately(file);
  requireNoRepair(directory);
  try {
    const { ino } = statSync(file);
    inspect(file, recorded);
    const { db, found } = lockAndPrepare(file, use, () => {
      // A repair may have ended since, and its file replaces this one.
      requireNoRepair(directory);
      if (statSync(file).ino !== ino) throw new Error(`${file} was replaced meanwhile; start again`);
    });
    // Nobody fetches a copy from an earlier service, which takes as much space as the log.
    if (use === 'write') rmSync(backupFile(directory), { force: true });
    return { db, file, heads: new HeadFile(directory), notices: notices(directory, recorded, found) };
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
function lockAndPrepare(
  file: string,
  use: DatabaseUse,
  confirm: () => void,
): { db: DatabaseSync; found: Identity } {
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
    // Rows of version 2 are rows of this version, too. The release that wrote them can go on with the log until this one
    // writes.
    if (found === 'version 2' && use === 'write') db.exec(marks);
    db.exec(titlesTable + incompleteTable);
    const isCleaned = use === 'write' && removeIncomplete(db);
    db.exec('COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
    // On macOS a plain fsync leaves data in the cache of the drive. Elsewhere these settings do nothing.
    db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    // The WAL still contains what was removed.
    if (isCleaned) db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    if (use === 'read') db.exec('PRAGMA query_only = ON');
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
    ...(found === 'version 1' ? ['event log: migrated from version 1 to the current version'] : []),
    ...(isChained(found) && recorded === undefined
      ? [`event log: ${file} is missing, so a loss of the last appends before this start cannot be detected`]
      : []),
    ...(lines > 0
      ? [`event log: ${lines} lines of ${file} cannot be read, for example because of a crash`]
      : []),
  ];
}
