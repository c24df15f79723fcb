import { existsSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { loadSqlite } from './load-sqlite.ts';
import { cannotLock, isCorrupt } from './sqlite-errors.ts';

/**
 * `locked` throws when another process has the file open for writing, and keeps such processes away. `locked if possible` does
 * so, too, but is read without a lock where SQLite can lock no database in WAL mode: it can create no files, or cannot share
 * memory. `without WAL` shows only what the file itself contains. Without a mode, the file is locked only if it has a WAL.
 */
export type ViewMode = 'locked' | 'locked if possible' | 'without WAL';

export interface ReadOnlyDatabase {
  readonly db: DatabaseSync;
  /** Throws if the file could not be locked, and was written meanwhile. */
  readonly close: () => void;
}

/**
 * Opens a database so that neither the file nor its WAL can change. SQLite opens the file read-only, so it can neither
 * checkpoint the WAL nor delete it. Files that SQLite creates beside the database are removed at the end.
 */
export function openReadOnly(file: string, mode?: ViewMode): ReadOnlyDatabase {
  if (mode === 'without WAL' || (mode === undefined && walBytes(file) === 0)) return openImmutable(file);
  try {
    return openLocked(file);
  } catch (error) {
    if (mode !== 'locked if possible' || !cannotLock(error)) throw error;
    return openUnlocked(file);
  }
}

/** Opens a database as `openReadOnly` does, for `look`. */
export function viewReadOnly<T>(file: string, look: (db: DatabaseSync) => T, mode?: ViewMode): T {
  const { db, close } = openReadOnly(file, mode);
  try {
    return look(db);
  } finally {
    close();
  }
}

/** Throws if another process uses the file. Does not say whether the file is damaged. */
export function requireUnused(file: string): void {
  try {
    viewReadOnly(file, (db) => db.exec('SELECT count(*) FROM sqlite_schema'), 'locked if possible');
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
}

/** An immutable database needs no lock and no shared memory, but SQLite ignores its WAL. */
function openImmutable(file: string): ReadOnlyDatabase {
  const db = open(file, { immutable: '1' });
  return { db, close: () => db.close() };
}

function openLocked(file: string): ReadOnlyDatabase {
  const [wal, shm] = [`${file}-wal`, `${file}-shm`];
  const additions = [wal, shm].filter((path) => !existsSync(path));
  const db = open(file, {});
  try {
    // Takes the lock, which lasts as long as the connection.
    db.exec('SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    if (!isCorrupt(error)) {
      db.close();
      // The WAL could be that of a service that has started meanwhile. A service needs no shared memory.
      if (additions.includes(shm)) rmSync(shm, { force: true });
      throw error;
    }
  }
  return {
    db,
    close: () => {
      // Before the lock ends: a service that starts then has a WAL of its own.
      for (const path of additions) rmSync(path, { force: true });
      db.close();
    },
  };
}

/** With the index of the WAL in memory, in place of a file. */
function openUnlocked(file: string): ReadOnlyDatabase {
  const before = stateOf(file);
  const hasWal = walBytes(file) > 0;
  const vfs = process.platform === 'win32' ? 'win32-none' : 'unix-none';
  const db = open(file, hasWal ? { vfs } : { immutable: '1' });
  if (hasWal) db.exec('PRAGMA locking_mode = EXCLUSIVE');
  return {
    db,
    close: () => {
      db.close();
      if (stateOf(file) !== before)
        throw new Error(
          `${file} was written while it was read, so what was read may be wrong; read it again`,
        );
    },
  };
}

function open(file: string, parameters: Readonly<Record<string, string>>): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const url = pathToFileURL(file);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return new DatabaseSync(url, { readOnly: true });
}

function walBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Changes with each write to the database or its WAL. */
function stateOf(file: string): string {
  return [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
    .map((stat) => stat && `${stat.ino} ${stat.size} ${stat.mtimeNs}`)
    .join('\n');
}
