import { describe, expect, it } from 'vitest';
import { sha256Hash } from '../../../src/adapters/sha256/sha256-hash.ts';

describe('the hash of a secret', () => {
  it('is SHA-256 in base64url, as other programs compute it', () => {
    // printf abc | openssl dgst -sha256 -binary | basenc --base64url
    expect(sha256Hash.hash('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });

  it('fits its own secret, and no other hash or text does', () => {
    const hash = sha256Hash.hash('abc');
    expect(sha256Hash.matches('abc', hash)).toBe(true);
    expect(sha256Hash.matches('abd', hash)).toBe(false);
    for (const other of ['', 'abc', hash.slice(0, -4), `${hash}AAAA`, 'ü'.repeat(43)])
      expect(sha256Hash.matches('abc', other)).toBe(false);
  });
});
