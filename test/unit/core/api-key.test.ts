import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { redactText } from '../../../src/config/export/redact.ts';
import {
  formatApiKey,
  generateApiKey,
  looksLikeApiKey,
  parseApiKey,
} from '../../../src/core/access/api-key.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** As the documents give it to those who look for leaked keys. */
const DOCUMENTED = /\bas_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}\b/g;

/** The checksum as another program would compute it. */
function checksum(text: string): string {
  const digits: string[] = [];
  for (let rest = BigInt(crc32(text)), place = 0; place < 6; place += 1, rest /= 62n)
    digits.unshift(BASE62.charAt(Number(rest % 62n)));
  return digits.join('');
}

const some = { keyId: 'c1Q3mJr7', secret: 'A'.repeat(32) };

describe('the text of an API key', () => {
  it('is as_, the id, the secret and a checksum that others can compute', () => {
    const text = `as_${some.keyId}_${some.secret}`;
    expect(formatApiKey(some)).toBe(`${text}${checksum(text)}`);
    for (let round = 0; round < 200; round += 1) {
      const key = formatApiKey(generateApiKey());
      expect(key).toHaveLength(50);
      expect(key.slice(-6)).toBe(checksum(key.slice(0, -6)));
    }
  });

  it('is read back as it was made', () => {
    const key = generateApiKey();
    expect(parseApiKey(formatApiKey(key))).toEqual(key);
  });

  it('is found by the documented pattern, and removed from what is logged', () => {
    const key = formatApiKey(generateApiKey());
    const leaked = `export KEY=${key}; curl "localhost?x=${key}"`;
    expect(leaked.match(DOCUMENTED)).toEqual([key, key]);
    expect(redactText(`refused ${key}.`)).not.toContain(key.slice(3));
  });

  it('has a secret whose characters are all equally likely', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 4_000; round += 1)
      for (const char of generateApiKey().secret) counts.set(char, (counts.get(char) ?? 0) + 1);
    expect([...counts.keys()].sort().join('')).toBe(BASE62);
    // 128,000 characters of 62 kinds: 2,064 of each, and ten standard deviations are 450.
    for (const count of counts.values()) expect(Math.abs(count - 2_064)).toBeLessThan(450);
  });

  it('with one wrong character, or two exchanged, is none', () => {
    const key = formatApiKey(generateApiKey());
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
      const next = key[at + 1];
      if (next === undefined || next === key[at]) continue;
      expect(parseApiKey(key.slice(0, at) + next + key[at] + key.slice(at + 2))).toBeNull();
    }
  });

  it.each([
    '',
    'as_',
    'as_c1Q3mJr7',
    `as_${some.keyId}_${some.secret}`,
    ` ${formatApiKey(some)}`,
    `${formatApiKey(some)}\n`,
    `${formatApiKey(some)}0`,
    formatApiKey(some).slice(0, -1),
    formatApiKey(some).replace('as_', 'AS_'),
    formatApiKey({ keyId: 'c1Q3mJr', secret: some.secret }),
    formatApiKey({ keyId: 'c1Q3mJr-', secret: some.secret }),
    formatApiKey({ keyId: some.keyId, secret: `${'A'.repeat(31)}é` }),
    formatApiKey({ keyId: some.keyId, secret: 'A'.repeat(33) }),
    'as_'.repeat(100_000),
  ])('is not %j', (text) => {
    expect(parseApiKey(text)).toBeNull();
  });

  it('is not random text, with whatever it begins', () => {
    const random = seededRandom(17);
    for (let round = 0; round < 20_000; round += 1) {
      const length = Math.floor(random() * 60);
      const tail = Array.from({ length }, () => String.fromCharCode(33 + Math.floor(random() * 94))).join('');
      expect(parseApiKey(round % 2 === 0 ? tail : `as_${tail}`)).toBeNull();
    }
  });

  it('is recognised by its beginning', () => {
    expect(looksLikeApiKey(formatApiKey(some))).toBe(true);
    expect(looksLikeApiKey('eyJhbGciOiJSUzI1NiJ9.e30.x')).toBe(false);
  });
});
