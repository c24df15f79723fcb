import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { rethrowObstacle } from '../file/sqlite-errors.ts';

type Row = Record<string, SQLOutputValue>;
type Table = 'events' | 'sessions';

/** More rows than a page of the table holds. The search for a readable row goes one by one for this many. */
const maxRowsOfPage = 300;
/** Higher than any rowid of a log. */
const lastRowid = 2 ** 40;

/**
 * Reads the rows of a table in the order of their rowids, and skips pages that cannot be read. It uses no index,
 * because indexes may be damaged too.
 */
export function* readableRows(
  db: DatabaseSync,
  table: Table,
  onUnreadable: (error: unknown) => void,
): Generator<Row, void, void> {
  const rows = db.prepare(`SELECT rowid, * FROM ${table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid`);
  let next = 1;
  while (next < lastRowid) {
    try {
      for (const row of rows.iterate(next)) {
        // Never goes back, because rowids may be out of order on a damaged page.
        next = Math.max(next, Number(row.rowid) + 1);
        yield row;
      }
      return;
    } catch (error) {
      rethrowObstacle(error);
      onUnreadable(error);
      next = nextReadable(db, table, next);
    }
  }
}

/** The first rowid after an unreadable one from which a read succeeds, with a row or with the end of the table. */
function nextReadable(db: DatabaseSync, table: Table, unreadable: number): number {
  const row = db.prepare(`SELECT rowid, * FROM ${table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT 1`);
  const isReadable = (rowid: number): boolean => {
    try {
      row.get(rowid);
      return true;
    } catch (error) {
      rethrowObstacle(error);
      return false;
    }
  };
  let low = unreadable;
  let high = unreadable + 1;
  while (high < lastRowid && !isReadable(high)) {
    low = high;
    high += Math.max(1, Math.floor((high - unreadable - maxRowsOfPage) / 8));
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isReadable(middle)) high = middle;
    else low = middle;
  }
  return high;
}

export function hasTable(db: DatabaseSync, table: string): boolean {
  return db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table) !== undefined;
}
