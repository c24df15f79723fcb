import { expect, it } from 'vitest';
import { explainSqliteError } from '../../../src/adapters/sqlite/file/sqlite-errors.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';

it.each([
  ['database or disk is full', { errcode: 13 }],
  // After a crash the log is first looked at without a lock, for which SQLite needs space too.
  ['disk I/O error', { errcode: 4874 }],
  // The marks are written without SQLite.
  ['ENOSPC: no space left on device, write', { code: 'ENOSPC' }],
])('advises to free some space when it hears "%s" (%o)', (message, code) => {
  const error = Object.assign(new Error(message), code);
  const explained = explainSqliteError(error, 'events.db', 'open');
  expect(explained).toBeInstanceOf(StorageFullError);
  expect(explained).toMatchObject({
    message: `cannot open events.db: ${message}; free some space on its disk`,
    cause: error,
  });
});
