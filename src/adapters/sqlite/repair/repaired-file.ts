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
import { headFilePath } from '../integrity/head-file.ts';

/*
 * How a repaired log takes the place of a damaged one, so that a crash at any point leaves either the damaged
 * one as it was or a repaired one that is complete.
 */

/** The log as a repair has written it, complete, and not yet in its place. */
export function repairedFile(directory: string): string {
  return join(directory, 'events.repaired');
}

/** Copies the files of the log into a new folder beside them, and gives its path. */
export function backUp(directory: string): string {
  const moment = new Date().toISOString().replaceAll(':', '-');
  const folder = join(directory, `events.damaged-${moment}`);
  mkdirSync(folder, { mode: 0o700 });
  const file = join(directory, 'events.db');
  for (const path of [file, `${file}-wal`, `${file}-journal`, headFilePath(directory)]) {
    if (!existsSync(path)) continue;
    const copy = join(folder, basename(path));
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    sync(copy);
  }
  sync(folder);
  return folder;
}

/** An empty file to write the repaired log to. */
export function createRepairing(directory: string): string {
  const file = repairingFile(directory);
  rmSync(file, { force: true });
  closeSync(openSync(file, 'wx', 0o600));
  return file;
}

/** The repaired log is whole: from here on it is the log. */
export function complete(directory: string): void {
  sync(repairingFile(directory));
  renameSync(repairingFile(directory), repairedFile(directory));
  sync(directory);
}

/** Only deletes and renames, so that it can be done again from its beginning. */
export function putInPlace(directory: string): void {
  const file = join(directory, 'events.db');
  const snapshots = join(directory, 'snapshots.db');
  // A WAL beside a file that it does not belong to would be taken for its own. Snapshots may know more than the log.
  for (const path of [`${file}-wal`, `${file}-shm`, `${file}-journal`, snapshots])
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
