import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { loadSqlite } from './load-sqlite.ts';
import { explainSqliteError, isBusy, isNotADatabase } from './sqlite-errors.ts';

/** "agse", in the header of every file of ours. */
const applicationId = 0x61677365;
const schemaVersion = 1;

/**
 * The table keeps its rowid on purpose. Clustered by session, a batch of many sessions writes one page for
 * each of them; in order of arrival it fills a few pages, which is two to three times as fast.
 */
const schema = `
  CREATE TABLE events (
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

const smallestPageBytes = 512;

/** Two services that start together wait this long for each other before one of them gives up. */
const lockTimeoutMs = 200;

export interface Database {
  readonly db: DatabaseSync;
  readonly file: string;
}

/**
 * Opens the event log of a data directory for this process alone; creates both when absent.
 * What is not an event log, or one of a newer version, is refused and left as it is.
 */
export function openDatabase(dataDirectory: string): Database {
  const directory = resolve(dataDirectory);
  const file = join(directory, 'events.db');
  createPrivately(directory, file);
  const sqlite = loadSqlite();
  try {
    inspect(sqlite, file);
    return { db: lockAndPrepare(sqlite, file), file };
  } catch (error) {
    if (isBusy(error)) {
      const message = `data directory ${directory} is in use by another agent-service; stop it or choose another`;
      throw new Error(message, { cause: error });
    }
    throw explainSqliteError(error, file, 'open');
  }
}

/** SQLite would create the file readable for everybody; its journals take over the mode of the file. */
function createPrivately(directory: string, file: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Closing a descriptor drops every POSIX lock this process has on the file, also SQLite's own. 'wx'
    // opens only what did not exist, so nobody can have locked it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (existsSync(file)) return;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot create ${file}: ${reason}; choose another data directory`, { cause: error });
  }
}

/**
 * A first look that cannot change the file: `immutable` means no lock, no journal, no recovery.
 * Only a definite "not ours" counts. A file that looks torn may be one that its log repairs.
 */
function inspect({ DatabaseSync }: typeof import('node:sqlite'), file: string): void {
  const { size } = statSync(file);
  // SQLite takes anything shorter than its smallest page for an empty file, and would overwrite it.
  if (size > 0 && size < smallestPageBytes) throw notAnEventLog(file);
  if (existsSync(`${file}-journal`)) return; // Creating it was cut off; opening it rolls that back.
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true });
  try {
    identify(db, file);
  } catch (error) {
    if (!('errcode' in Object(error)) || isNotADatabase(error)) throw error;
  } finally {
    db.close();
  }
}

function lockAndPrepare({ DatabaseSync }: typeof import('node:sqlite'), file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: lockTimeoutMs });
  try {
    // Set before the first use of the WAL, this keeps the file locked until it is closed, or until the
    // process dies: the kernel drops the lock then.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    if (identify(db, file) === 'empty') db.exec(schema);
    db.exec('COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    // On macOS a plain fsync leaves data in the cache of the drive. Elsewhere these do nothing.
    db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function identify(db: DatabaseSync, file: string): 'empty' | 'ours' {
  const application = readNumber(db, 'PRAGMA application_id');
  const version = readNumber(db, 'PRAGMA user_version');
  if (application === applicationId && version === schemaVersion) return 'ours';
  if (application === applicationId && version > schemaVersion) {
    throw new Error(
      `${file} was written by a newer agent-service (schema ${version}, this one knows ${schemaVersion}); ` +
        'run that version or choose another data directory',
    );
  }
  const tables = readNumber(db, 'SELECT count(*) FROM sqlite_schema');
  if (application === 0 && version === 0 && tables === 0) return 'empty';
  throw notAnEventLog(file);
}

function notAnEventLog(file: string): Error {
  return new Error(
    `${file} is not an event log of agent-service; move it away or choose another data directory`,
  );
}

function readNumber(db: DatabaseSync, sql: string): number {
  const [value] = Object.values(db.prepare(sql).get() ?? {});
  if (typeof value !== 'number') throw new Error(`${sql} gave no number`);
  return value;
}
