import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and those above it, readable for their owner only, unless it exists.
 *
 * Not with the option `recursive` of `mkdir`. It takes ENOENT to mean that a parent is missing, and loops for ever where all
 * parents exist and nothing can be created, as in /proc.
 */
export function makeFolder(path: string): void {
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

/** Why a file or a folder could not be created. */
export function whyNotCreated(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const path = 'path' in error ? String(error.path) : '';
  return reasons[code]?.(path) ?? error.message;
}
