import { expect, it } from 'vitest';
import { StorageAwayError } from '../../../../src/core/log/storage-away.ts';
import { StorageFullError } from '../../../../src/core/log/storage-full.ts';
import { clientError } from '../../../../src/gateway/requests/client-error.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

/** How it is logged that a request ended with this. */
function levelsOf(thrown: unknown): string[] {
  const log = recordingLog();
  clientError(thrown, log, {}, 'a request failed unexpectedly');
  return log.lines.map(({ level }) => level);
}

it('failures are logged with their cause', () => {
  expect(levelsOf(new Error('a fault'))).toEqual(['error']);
  expect(levelsOf(new StorageFullError('full'))).toEqual(['error']);
});

it('that the database is away is not said for each request, also if what it was asked may be stored', () => {
  expect(levelsOf(new StorageAwayError('away'))).toEqual(['debug']);
  expect(levelsOf(new StorageAwayError('lost', { mayBeStored: true }))).toEqual(['debug']);
});
