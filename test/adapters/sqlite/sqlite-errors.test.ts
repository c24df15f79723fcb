import { expect, it } from 'vitest';
import { explainSqliteError } from '../../../src/adapters/sqlite/file/sqlite-errors.ts';

it.each([
  ['database or disk is full', 13],
  // After a crash the log is first looked at without a lock, for which SQLite needs space too.
  ['disk I/O error', 4874],
])('advises to free some space when SQLite says "%s" (%i)', (message, errcode) => {
  const error = Object.assign(new Error(message), { errcode });
  expect(explainSqliteError(error, 'events.db', 'open')).toMatchObject({
    message: `cannot open events.db: ${message}; free some space on its disk`,
    cause: error,
  });
});
