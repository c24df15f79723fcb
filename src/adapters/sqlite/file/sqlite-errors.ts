import { StorageFullError } from '../../../core/log/storage-full.ts';
import { repairAdvice } from '../integrity/log-damage.ts';

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

/** The extended code of a page that is beyond the end of its file. */
const shortRead = 522;

/** The extended code of a shared index of the WAL for which there is no space. */
const noSharedMemory = 4874;

/** The primary result code of an error thrown by SQLite; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  if (typeof error.errcode !== 'number') return undefined;
  return error.errcode === noSharedMemory ? primaryCode.full : error.errcode & 0xff;
}

export function isNotADatabase(error: unknown): boolean {
  return resultCode(error) === primaryCode.notADatabase;
}

/** Whether SQLite found that the file is damaged: no database any more, or shorter than it says it is. */
export function isCorrupt(error: unknown): boolean {
  const isCutOff = error instanceof Error && 'errcode' in error && error.errcode === shortRead;
  return resultCode(error) === primaryCode.corrupt || isNotADatabase(error) || isCutOff;
}

/** Throws an error again that says nothing about the file: it is in use, out of reach, or out of space. */
export function rethrowObstacle(error: unknown): void {
  const { busy, readOnly, full, cannotOpen } = primaryCode;
  const code = resultCode(error);
  if (code !== undefined && [busy, readOnly, full, cannotOpen].includes(code)) throw error;
}

/** Whether the error is one of SQLite's own. */
export function isSqliteError(error: unknown): boolean {
  return resultCode(error) !== undefined;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === primaryCode.busy;
}

/** Tells an operator what went wrong with which file, and what to do. Errors of others pass unchanged. */
export function explainSqliteError(error: unknown, file: string, attempt: string): unknown {
  const code = resultCode(error);
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
    // Only a log whose index has fallen behind its events refuses an event.
    case primaryCode.constraint:
      return `; ${repairAdvice(file)}`;
    case primaryCode.notADatabase:
      return `; ${repairAdvice(file)}, restore the file from a backup, or choose another data directory`;
    default:
      return '';
  }
}
