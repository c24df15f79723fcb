import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { headFilePath, logFile, repairedFile, snapshotFilePath } from '../file/data-directory.ts';

/*
 * The steps that replace a damaged log with a repaired one. A crash at any point leaves either the unchanged damaged
 * log or a complete repaired one.
 */

/** Copies the files of the log into a new folder beside them, and returns its path. */
export function backUp(directory: string): string {
  const moment = new Date().toISOString().replaceAll(':', '-');
  const folder = join(directory, `events.damaged-${moment}`);
  mkdirSync(folder, { mode: 0o700 });
  const file = logFile(directory);
  for (const path of [file, `${file}-wal`, `${file}-journal`, headFilePath(directory)]) {
    if (!existsSync(path)) continue;
    const copy = join(folder, basename(path));
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    sync(copy);
  }
  sync(folder);
  return folder;
}

/** Creates an empty file for the repaired log. */
export function createRepairing(directory: string): string {
  const file = repairingFile(directory);
  rmSync(file, { force: true });
  closeSync(openSync(file, 'wx', 0o600));
  return file;
}

/** Undoes the two steps above, unless the repaired log is complete. */
export function discardRepairing(directory: string, backup: string): void {
  if (existsSync(repairedFile(directory))) return;
  rmSync(backup, { recursive: true });
  rmSync(repairingFile(directory), { force: true });
}

/** Marks the repaired log as complete by renaming it. From here on, each repair puts it in place. */
export function complete(directory: string): void {
  sync(repairingFile(directory));
  renameSync(repairingFile(directory), repairedFile(directory));
  sync(directory);
}

/** Replaces the damaged log. May be run again after a crash: its steps can be repeated. */
export function putInPlace(directory: string): void {
  const file = logFile(directory);
  // SQLite would apply the old WAL to the new file. Snapshots may contain events that the repaired log lacks.
  for (const path of [`${file}-wal`, `${file}-shm`, `${file}-journal`, snapshotFilePath(directory)])
    rmSync(path, { force: true });
  writeFileSync(headFilePath(directory), '', { mode: 0o600 });
  sync(directory);
  renameSync(repairedFile(directory), file);
  sync(directory);
}

function repairingFile(directory: string): string {
  return join(directory, 'events.repairing');
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
