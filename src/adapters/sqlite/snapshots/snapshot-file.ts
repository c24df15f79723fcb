import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Logger } from '../../../ports/logger.ts';
import { snapshotFilePath } from '../file/data-directory.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import { isBusy, isSqliteError } from '../file/sqlite-errors.ts';

export interface SnapshotFile {
  readonly db: DatabaseSync;
  readonly find: StatementSync;
  readonly part: StatementSync;
  readonly putPart: StatementSync;
  readonly put: StatementSync;
  readonly removeParts: StatementSync;
  readonly remove: StatementSync;
}

/** "ags" and a version, as one number. A file of another version is discarded instead of migrated. */
const formatId = 0x61677302;

const setup = `
  PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF; PRAGMA secure_delete = ON;
`;

const schema = `
  BEGIN;
  CREATE TABLE snapshots (
    session TEXT PRIMARY KEY, seq INTEGER NOT NULL, parts INTEGER NOT NULL, "check" TEXT NOT NULL
  ) STRICT;
  CREATE TABLE parts (
    session TEXT, part INTEGER, text TEXT NOT NULL, "check" TEXT NOT NULL, PRIMARY KEY (session, part)
  ) STRICT;
  PRAGMA user_version = ${formatId};
  COMMIT;
`;

/**
 * Opens the snapshots of a data directory. A file that is damaged or of another version is replaced by an empty one.
 *
 * @param mode `anew` always begins with an empty file.
 */
export function openSnapshotFile(directory: string, log: Logger, mode?: 'anew'): SnapshotFile {
  const file = snapshotFilePath(resolve(directory));
  if (mode === 'anew') discard(file);
  try {
    return open(file);
  } catch (error) {
    if (isBusy(error)) throw new Error(`${file} is in use by another agent-service`, { cause: error });
    if (mode === 'anew' || !(isSqliteError(error) || error instanceof UnknownFormatError)) throw error;
    log.warn(
      { err: error },
      'the snapshots cannot be used and were deleted; sessions load more slowly until there are new ones',
    );
    return openSnapshotFile(directory, log, 'anew');
  }
}

class UnknownFormatError extends Error {}

function open(file: string): SnapshotFile {
  const { DatabaseSync } = loadSqlite();
  // Created for its owner alone. An existing file must not be opened here: closing it would drop SQLite's lock.
  if (!existsSync(file)) closeSync(openSync(file, 'wx', 0o600));
  const db = new DatabaseSync(file);
  try {
    db.exec(setup);
    const format = db.prepare('PRAGMA user_version').get()?.user_version;
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
    if (isEmpty) db.exec(schema);
    else if (format !== formatId) throw new UnknownFormatError('the snapshots have another format');
    return {
      db,
      find: db.prepare('SELECT seq, parts, "check" FROM snapshots WHERE session = ?'),
      part: db.prepare('SELECT text, "check" FROM parts WHERE session = ? AND part = ?'),
      putPart: db.prepare('INSERT INTO parts (session, part, text, "check") VALUES (?, ?, ?, ?)'),
      put: db.prepare('INSERT OR REPLACE INTO snapshots (session, seq, parts, "check") VALUES (?, ?, ?, ?)'),
      removeParts: db.prepare('DELETE FROM parts WHERE session = ?'),
      remove: db.prepare('DELETE FROM snapshots WHERE session = ?'),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function discard(file: string): void {
  for (const path of [file, `${file}-journal`, `${file}-wal`, `${file}-shm`]) rmSync(path, { force: true });
}
