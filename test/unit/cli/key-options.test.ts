import { describe, expect, it } from 'vitest';
import { parseKeyId, parseValidity, requireKnownRoles } from '../../../src/cli/keys/key-options.ts';
import { keyTable } from '../../../src/cli/keys/key-table.ts';
import { formatApiKey, generateApiKey } from '../../../src/core/access/api-key.ts';

const HOUR_MS = 60 * 60_000;

describe('the options of `keys`', () => {
  it.each([
    ['1h', HOUR_MS],
    ['90d', 90 * 24 * HOUR_MS],
    ['8w', 56 * 24 * HOUR_MS],
    ['3650d', 3_650 * 24 * HOUR_MS],
  ])('take %s as a validity', (text, ms) => {
    expect(parseValidity(text)).toBe(ms);
  });

  it.each(['', '90', '0d', '-1d', '1.5h', '3651d', '90 d', '1m', 'd', '99999999h'])(
    'do not take %j',
    (text) => {
      expect(() => parseValidity(text)).toThrow(`--expires: found "${text}"; expected a time such as 12h`);
    },
  );

  it('refuse the first role that does not exist, and say what was meant', () => {
    expect(() => requireKnownRoles(['user', 'admn'], ['user', 'admin'])).toThrow(
      '--role: found "admn"; expected one of user, admin; did you mean "admin"?',
    );
    expect(requireKnownRoles(['user'], ['user', 'admin'])).toBeUndefined();
  });

  it('take the id of a key, or a whole key, and show neither if it is wrong', () => {
    const key = generateApiKey();
    expect(parseKeyId(key.keyId)).toBe(key.keyId);
    expect(parseKeyId(formatApiKey(key))).toBe(key.keyId);
    const mistyped = `${formatApiKey(key)}x`;
    expect(() => parseKeyId(mistyped)).toThrow(/^id: expected the 8 characters(?!.*as_[^ ])/);
  });
});

describe('the table of keys', () => {
  it('has a row for each, with its times in UTC', () => {
    const record = { roles: ['user', 'approver'], tenant: 'default', createdAt: '2026-11-21T05:51:26.421Z' };
    const table = keyTable([
      { ...record, keyId: 'c1Q3mJr7', name: 'a-long-name', status: 'active' },
      { ...record, keyId: 'x7Jp02Lk', name: 'ci', status: 'expired', expiresAt: '2027-02-19T05:51:26.421Z' },
    ]);
    expect(table).toBe(
      [
        'ID        NAME         ROLES          TENANT   STATUS   CREATED           EXPIRES',
        'c1Q3mJr7  a-long-name  user,approver  default  active   2026-11-21 05:51  never',
        'x7Jp02Lk  ci           user,approver  default  expired  2026-11-21 05:51  2027-02-19 05:51',
        '',
      ].join('\n'),
    );
  });
});
