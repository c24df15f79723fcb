import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, whyNotCreated } from '../file/make-folder.ts';

/**
 * Creates a file and its folders, readable for their owner only, unless the file exists. SQLite would create the file
 * readable for everybody. Its journals inherit the mode of the file.
 */
export function createPrivately(file: string): void {
  try {
    makeFolder(dirname(file));
    // Closing a descriptor drops every POSIX lock of this process on the file, also SQLite's own. 'wx' opens
    // only a file that did not exist, so there can be no lock.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (existsSync(file)) return;
    const message = `cannot create ${file}: ${whyNotCreated(error)}; choose another folder with --data-dir`;
    throw new Error(message, { cause: error });
  }
}
