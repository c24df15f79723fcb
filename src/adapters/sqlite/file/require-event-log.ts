import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { headFilePath } from '../integrity/head-file.ts';
import { repairedFile } from '../repair/repaired-file.ts';
import { isAbsent } from './is-absent.ts';

/** Throws unless a data directory has an event log, whole or damaged. For whoever wants to read one: opening makes it. */
export function requireEventLog(dataDirectory: string): void {
  const directory = resolve(dataDirectory);
  const found = lookFor(directory);
  if (found !== undefined) throw new Error(`${found}; choose the folder of an event log with --data-dir`);
}

/** Says what is there instead, or nothing. */
function lookFor(directory: string): string | undefined {
  try {
    const folder = statSync(directory, { throwIfNoEntry: false });
    if (folder === undefined) return `there is no folder ${directory}`;
    if (!folder.isDirectory()) return `${directory} is not a folder`;
    const hasLog =
      !isAbsent(join(directory, 'events.db')) ||
      existsSync(headFilePath(directory)) ||
      existsSync(repairedFile(directory));
    return hasLog ? undefined : `there is no event log in ${directory}`;
  } catch (error) {
    return `${directory} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
