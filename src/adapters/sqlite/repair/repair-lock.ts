import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqlite } from '../file/load-sqlite.ts';
import { isBusy } from '../file/sqlite-errors.ts';
import { createPrivately } from '../open/create-privately.ts';

/**
 * Keeps another repair of the directory out during `work`. The locks of the log do not: a repair only reads it, and then
 * replaces its files. This one is a lock of SQLite on an empty file, because it ends with the process.
 */
export function withRepairLock<T>(directory: string, work: () => T): T {
  const { DatabaseSync } = loadSqlite();
  const file = join(directory, 'events.repair-lock');
  createPrivately(file);
  const { ino } = statSync(file);
  const db = new DatabaseSync(file);
  try {
    lock(() => db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE'), directory);
    // The one before may have ended and removed the file since.
    if (statSync(file, { throwIfNoEntry: false })?.ino !== ino) throw running(directory);
    try {
      return work();
    } finally {
      rmSync(file);
    }
  } finally {
    db.close();
  }
}

function lock(attempt: () => void, directory: string): void {
  try {
    attempt();
  } catch (error) {
    throw isBusy(error) ? running(directory) : error;
  }
}

function running(directory: string): Error {
  return new Error(`another repair of ${directory} is running; wait for its end`);
}
