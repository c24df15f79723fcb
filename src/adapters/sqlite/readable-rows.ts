import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';

type Row = Record<string, SQLOutputValue>;

/** More rowids than a damaged page can stand for, so that behind so many there is nothing more. */
const mostMisses = 100_000;

/**
 * The rows of a table in the order of their rowids, around pages that cannot be read. No index is used: it may
 * be damaged too.
 */
export function* readableRows(
  db: DatabaseSync,
  table: 'events' | 'sessions',
  onUnreadable: (error: unknown) => void,
): Generator<Row, void, void> {
  let rowid = 0;
  let misses = 0;
  while (misses < mostMisses) {
    try {
      const rows = db.prepare(`SELECT rowid, * FROM ${table} NOT INDEXED WHERE rowid > ? ORDER BY rowid`);
      for (const row of rows.iterate(rowid)) {
        rowid = Number(row.rowid);
        misses = 0;
        yield row;
      }
      return;
    } catch (error) {
      if (misses === 0) onUnreadable(error);
      rowid += 1;
      misses += 1;
    }
  }
}

export function hasTable(db: DatabaseSync, table: string): boolean {
  return db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table) !== undefined;
}
