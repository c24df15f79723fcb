import { describe, expect, it } from 'vitest';
import { asServiceError, isFailure, levelOfFailure } from '../../../src/core/errors.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { StoreClosedError } from '../../../src/core/log/store-closed.ts';

describe('a database that is away', () => {
  it('refuses what was not sent to it, to be tried again', () => {
    const error = asServiceError(new StorageAwayError('away'));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { retryAfter: 2 } });
    expect(isFailure(error)).toBe(true);
  });

  it('says whether something could not be read or not be recorded', () => {
    const messages = [true, false].map((isReading) =>
      asServiceError(new StorageAwayError('away', { isReading })),
    );
    expect(messages).toMatchObject([
      { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('cannot read this') },
      { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('cannot record this') },
    ]);
    expect(messages[0]?.details).toEqual(messages[1]?.details);
  });

  it('leaves open what may be stored', () => {
    const error = asServiceError(new StorageAwayError('away', { mayBeStored: true }));
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { suggestion: expect.any(String) } });
    expect(error.details).not.toHaveProperty('retryAfter');
    expect(isFailure(error)).toBe(true);
  });
});

it.each([
  [new StorageAwayError('the database is away'), 'debug'],
  [new StoreClosedError(), 'debug'],
  [new Error('a bug'), 'error'],
])('%s is logged at the level %s: what the store says once is not said by each request', (failure, level) => {
  expect(levelOfFailure(failure)).toBe(level);
});
