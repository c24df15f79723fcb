import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { headFilePath } from '../integrity/head-file.ts';

/** Throws when the files of an event log are there and cannot be used. SQLite says then that the disk has failed. */
export function requireUsable(directory: string): void {
  for (const file of [join(directory, 'events.db'), headFilePath(directory)]) {
    if (!existsSync(file)) continue;
    if (!statSync(file).isFile())
      throw new Error(`${file} is not a file; move it away, or choose another folder with --data-dir`);
    for (const path of [file, directory]) requireAccess(path);
  }
}

function requireAccess(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${path} has to be read and written by this user: ${reason}; change its mode, or choose another folder with --data-dir`;
    throw new Error(message, { cause: error });
  }
}
