import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../../../core/thrown.ts';

/** The database of an event log. SQLite keeps its WAL beside it. */
export function logFile(directory: string): string {
  return join(directory, 'events.db');
}

/** The high-water marks of the sessions, see `HeadFile`. */
export function headFilePath(directory: string): string {
  return join(directory, 'events.heads');
}

/** A log that a repair has written completely, but has not yet put in its place. */
export function repairedFile(directory: string): string {
  return join(directory, 'events.repaired');
}

const BACKUP_NAME = 'events.backup';

/** A place for the copy that a backup of a running service makes. */
export function newBackupFile(directory: string): string {
  return join(directory, `${BACKUP_NAME}-${randomUUID()}`);
}

/** The copies that nobody has fetched yet. They may be incomplete. */
export function backupFiles(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => name.startsWith(BACKUP_NAME));
  return names.map((name) => join(directory, name));
}

export function snapshotFilePath(directory: string): string {
  return join(directory, 'snapshots.db');
}

/** The address of the service that uses the directory, or of one that did. */
export function addressFile(directory: string): string {
  return join(directory, 'service.address');
}

/** The code of `DirectoryInUseError`. It survives the way from the worker thread, the class does not. */
export const DIRECTORY_IN_USE = 'DATA_DIRECTORY_IN_USE';

/** Another process uses the event log of the directory. */
export class DirectoryInUseError extends Error {
  readonly code = DIRECTORY_IN_USE;

  constructor(directory: string, cause: unknown) {
    const address = addressIn(directory);
    super(
      `data directory ${directory} is in use by another agent-service${address === null ? '' : ` at ${address}`}; stop it, or choose another with --data-dir`,
      { cause },
    );
  }
}

/** The address of the service that used the directory last. Null when it has none, as over stdio, or is older than this file. */
export function readAddress(directory: string): string | null {
  const file = addressFile(directory);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/** Null also if this user may not read it: that the directory is in use is what matters. */
function addressIn(directory: string): string | null {
  try {
    return readAddress(directory);
  } catch {
    return null;
  }
}

/** Whether the file is missing or has no bytes. */
export function isAbsent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Throws unless the directory has an event log, whole or damaged. Opening the directory would create a log. */
export function requireEventLog(dataDirectory: string, option = '--data-dir'): void {
  const problem = problemWith(resolve(dataDirectory));
  if (problem !== undefined) throw new Error(`${problem}; choose the folder of an event log with ${option}`);
}

function problemWith(directory: string): string | undefined {
  try {
    const folder = statSync(directory, { throwIfNoEntry: false });
    if (folder === undefined) return `there is no folder ${directory}`;
    if (!folder.isDirectory()) return `${directory} is not a folder`;
    const hasLog =
      !isAbsent(logFile(directory)) ||
      existsSync(headFilePath(directory)) ||
      existsSync(repairedFile(directory));
    return hasLog ? undefined : `there is no event log in ${directory}`;
  } catch (error) {
    return `${directory} cannot be read: ${messageOf(error)}`;
  }
}

/** `read` changes no file. */
export type DatabaseUse = 'read' | 'write';

/**
 * Throws when the files of an event log exist, but cannot be used like that. SQLite itself would report a failed
 * disk.
 */
export function requireUsable(directory: string, use: DatabaseUse): void {
  for (const file of [logFile(directory), headFilePath(directory)]) {
    if (!existsSync(file)) continue;
    if (!statSync(file).isFile())
      throw new Error(`${file} is not a file; move it away, or choose another folder with --data-dir`);
    for (const path of [file, directory]) requireAccess(path, use);
  }
}

function requireAccess(path: string, use: DatabaseUse): void {
  const isRead = use === 'read';
  try {
    accessSync(path, isRead ? constants.R_OK : constants.R_OK | constants.W_OK);
  } catch (error) {
    const message = `this user must be able to ${isRead ? 'read' : 'read and write'} ${path}: ${messageOf(error)}; change its mode, or choose another folder with --data-dir`;
    throw new Error(message, { cause: error });
  }
}
