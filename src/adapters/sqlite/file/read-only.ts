import { existsSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { loadSqlite } from './load-sqlite.ts';

/**
 * Shows a database so that nothing of it can change, its WAL included: SQLite has the file itself from the
 * kernel for reading only, so it can neither checkpoint the WAL nor delete it. What SQLite adds beside it
 * is removed at the end.
 *
 * @param mode `locked` fails when another process has the file, `without WAL` shows what the file alone has.
 * Left out, there is no lock as long as there is no WAL.
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
  // Needs no lock and no shared memory, but does not see a WAL.
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
