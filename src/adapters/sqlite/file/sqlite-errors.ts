import { StorageFullError } from '../../../core/log/storage-full.ts';
import { repairAdvice } from './log-damage.ts';

/** The low byte of an SQLite result code, see https://www.sqlite.org/rescode.html. */
const primaryCode = {
  busy: 5,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
};

/** SQLITE_IOERR_SHORT_READ: a page is beyond the end of its file. */
const shortRead = 522;

/** SQLITE_IOERR_SHMSIZE: there is no space for the shared memory of the WAL. */
const noSharedMemory = 4874;

/** SQLITE_IOERR_SHMOPEN, SHMSIZE, SHMLOCK and SHMMAP: a network file system may not know shared memory. */
const sharedMemory = [4618, noSharedMemory, 5130, 5386];

/** The primary result code of an error thrown by SQLite; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  if (typeof error.errcode !== 'number') return undefined;
  return error.errcode === noSharedMemory ? primaryCode.full : error.errcode & 0xff;
}

export function isNotADatabase(error: unknown): boolean {
  return resultCode(error) === primaryCode.notADatabase;
}

/** Whether SQLite found the file damaged: corrupt, no database, or shorter than its header says. */
export function isCorrupt(error: unknown): boolean {
  const isTruncated = error instanceof Error && 'errcode' in error && error.errcode === shortRead;
  return resultCode(error) === primaryCode.corrupt || isNotADatabase(error) || isTruncated;
}

/** Rethrows an error that is no sign of damage: the file is in use, not accessible, or its disk is full. */
export function rethrowObstacle(error: unknown): void {
  const { busy, readOnly, full, cannotOpen } = primaryCode;
  const code = resultCode(error);
  if (code !== undefined && [busy, readOnly, full, cannotOpen].includes(code)) throw error;
}

/** Whether SQLite could not make what it locks a database in WAL mode with: a file of shared memory beside it. */
export function cannotLock(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = resultCode(error);
  return (
    code === primaryCode.cannotOpen ||
    code === primaryCode.readOnly ||
    sharedMemory.some((extended) => extended === error.errcode)
  );
}

/** Whether SQLite threw the error. */
export function isSqliteError(error: unknown): boolean {
  return resultCode(error) !== undefined;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === primaryCode.busy;
}

/** Whether there was no space for a file that is written without SQLite. */
function isNoSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC';
}

/** Adds the file and advice for the operator to an error of SQLite or of a full disk. Returns others unchanged. */
export function explainSqliteError(error: unknown, file: string, attempt: string): unknown {
  const code = isNoSpace(error) ? primaryCode.full : resultCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const message = `cannot ${attempt} ${file}: ${error.message}${adviceFor(code, file)}`;
  const Explained = code === primaryCode.full ? StorageFullError : Error;
  return new Explained(message, { cause: error });
}

function adviceFor(code: number, file: string): string {
  switch (code) {
    case primaryCode.full:
      return '; free some space on its disk';
    case primaryCode.io:
      return '; the disk failed, see the system log';
    case primaryCode.readOnly:
    case primaryCode.cannotOpen:
      return '; the service needs to write to it and to its directory';
    case primaryCode.corrupt:
    // An event violates a constraint only when the index of sessions has fallen behind the events.
    case primaryCode.constraint:
      return `; ${repairAdvice(file)}`;
    case primaryCode.notADatabase:
      return `; ${repairAdvice(file)}, restore the file from a backup, or choose another data directory`;
    default:
      return '';
  }
}
