import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a file and its folders, for their owner alone, where there is none. SQLite would create the file readable for
 * everybody; its journals take over the mode of the file.
 */
export function createPrivately(file: string): void {
  try {
    makeFolder(dirname(file));
    // Closing a descriptor drops every POSIX lock this process has on the file, also SQLite's own. 'wx'
    // opens only what did not exist, so nobody can have locked it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (existsSync(file)) return;
    const message = `cannot create ${file}: ${reasonOf(error)}; choose another folder with --data-dir`;
    throw new Error(message, { cause: error });
  }
}

/**
 * Not by the option `recursive`: Node takes the kernel's "no such entry" for a folder that is missing above, and tries
 * for ever where all of them are there and nothing can be made, as in /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

const reasons: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `this user may not make ${path}`,
  EPERM: (path) => `this user may not make ${path}`,
  EEXIST: (path) => `${path} is a link that leads nowhere`,
  ENOENT: (path) => `nothing of the name ${path} can be made there`,
  ENOTDIR: (path) => `above ${path} there is a file in place of a folder`,
  EROFS: (path) => `${path} would be on a disk that is read-only`,
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const path = 'path' in error ? String(error.path) : '';
  return reasons[code]?.(path) ?? error.message;
}
