import { describe, expect, it } from 'vitest';
import { explained, isAway, isLost } from '../../../src/adapters/postgres/postgres-errors.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';

const coded = (code: string) => Object.assign(new Error('as the driver says it'), { code });

describe('an error of the driver', () => {
  it.each([
    ...['ECONNREFUSED', 'ECONNABORTED', 'ENETDOWN', 'EHOSTDOWN', 'EADDRNOTAVAIL', 'EMFILE'],
    ...['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_BAD_RECORD_MAC'],
    ...['57P01', '25P03', '25P04', '08006'],
  ])('says that the connection was lost: %s', (code) => {
    expect(isLost(coded(code))).toBe(true);
    expect(explained(coded(code), 'here', 'read')).toBeInstanceOf(StorageAwayError);
  });

  it.each([
    'Query read timeout',
    'Connection terminated unexpectedly',
    'There was an error establishing an SSL connection',
  ])('says so without a code: %s', (message) => {
    expect(isLost(new Error(message))).toBe(true);
  });

  it.each(['53000', '53200', '53300', '53400', '58030', '57P03', '25006', '28P01'])(
    'says that the database refuses this for now, and has done nothing: %s',
    (code) => {
      expect(isAway(coded(code))).toBe(true);
      expect(isLost(coded(code))).toBe(false);
    },
  );

  it.each(['42601', '23505', 'ERR_INVALID_ARG_TYPE'])('says that something else is wrong: %s', (code) => {
    expect(isAway(coded(code))).toBe(false);
  });
});
