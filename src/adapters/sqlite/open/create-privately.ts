import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

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
    const message = `cannot create ${file}: ${reasonOf(error)}; choose another folder with --data-dir`;
    throw new Error(message, { cause: error });
  }
}

/**
 * Not with the option `recursive`. It takes ENOENT to mean that a parent is missing, and loops for ever where all
 * parents exist and nothing can be created, as in /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

const reasons: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `this user may not create ${path}`,
  EPERM: (path) => `this user may not create ${path}`,
  EEXIST: (path) => `${path} is a link that leads nowhere`,
  ENOENT: (path) => `${path} cannot be created there`,
  ENOTDIR: (path) => `above ${path} there is a file in place of a folder`,
  EROFS: (path) => `${path} would be on a disk that is read-only`,
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const path = 'path' in error ? String(error.path) : '';
  return reasons[code]?.(path) ?? error.message;
}
