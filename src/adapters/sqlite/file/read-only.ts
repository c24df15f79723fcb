import { existsSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { loadSqlite } from './load-sqlite.ts';
import { isCorrupt } from './sqlite-errors.ts';

/**
 * Opens a database for `look` so that neither the file nor its WAL can change. SQLite opens the file read-only, so it
 * can neither checkpoint the WAL nor delete it. Files that SQLite creates beside the database are removed at the end.
 *
 * @param mode `locked` throws when another process has the file open. `without WAL` shows only what the file itself
 * contains. Without a mode, the file is locked only if it has a WAL.
 */
export function viewReadOnly<T>(
  file: string,
  look: (db: DatabaseSync) => T,
  mode?: 'locked' | 'without WAL',
): T {
  const { DatabaseSync } = loadSqlite();
  const walBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const additions = [`${file}-wal`, `${file}-shm`].filter((path) => !existsSync(path));
  const url = pathToFileURL(file);
  // An immutable database needs no lock and no shared memory, but SQLite ignores its WAL.
  if (mode === 'without WAL' || (mode === undefined && walBytes === 0))
    url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true });
  try {
    return look(db);
  } finally {
    db.close();
    for (const path of additions) rmSync(path, { force: true });
  }
}

/** Throws if another process uses the file. Does not say whether the file is damaged. */
export function requireUnused(file: string): void {
  try {
    viewReadOnly(file, (db) => db.exec('SELECT count(*) FROM sqlite_schema'), 'locked');
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
}
