import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { canonicalJson, contentHash } from '../../../src/core/content-hash.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { projectRoot } from '../../support/project/source-imports.ts';

const Approval = z.looseObject({
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
});

function exportedLines(pattern: string): unknown[] {
  return globSync(pattern, { cwd: join(projectRoot, 'test/fixtures') })
    .toSorted()
    .flatMap((file) =>
      readFileSync(join(projectRoot, 'test/fixtures', file), 'utf8')
        .trimEnd()
        .split('\n'),
    )
    .map((line): unknown => JSON.parse(line));
}

const KEYS = [
  '',
  'a',
  'b',
  '10',
  '9',
  '__proto__',
  'toJSON',
  'é',
  'e\u0301',
  'ﬀ',
  '😀',
  '\ue000',
  '\n"\\',
  '\u2028',
];
const SCALARS = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  1.5,
  1e21,
  1e-7,
  1e-6,
  5e-324,
  2 ** 53,
  123456789012345680000,
];

/** A JSON value, nested at most so deep. */
function randomValue(random: () => number, depth: number): unknown {
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const kind = random();
  if (depth === 0 || kind < 0.3)
    return pick([pick(SCALARS), pick(KEYS), (random() - 0.5) * 10 ** (random() * 40 - 20)]);
  const size = Math.floor(random() * 5);
  if (kind < 0.6) return Array.from({ length: size }, () => randomValue(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [
      pick(KEYS),
      random() < 0.1 ? undefined : randomValue(random, depth - 1),
    ]),
  );
}

describe('canonical JSON', () => {
  it('is that of RFC 8785, as another implementation writes it', () => {
    const random = seededRandom(1);
    for (let round = 0; round < 5_000; round += 1) {
      const value = randomValue(random, 5);
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }
  });

  it('is the same for every line of the recorded histories', () => {
    const lines = exportedLines('**/*.jsonl');
    expect(lines.length).toBeGreaterThan(200);
    for (const line of lines) expect(canonicalJson(line)).toBe(canonicalize(line));
  });

  it('leaves out the fields of an object that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: 1, c: undefined })).toBe('{"a":1}');
  });

  it('escapes a lone surrogate, which RFC 8785 refuses: a log may hold one', () => {
    const value: unknown = JSON.parse('{"\\ud83d":["\\ude00", "😀"]}');
    expect(canonicalJson(value)).toBe('{"\\ud83d":["\\ude00","😀"]}');
    expect(() => canonicalize(value)).toThrow('surrogate');
  });

  it('can be made of whatever JSON.stringify can write, however deep', () => {
    const text = `${'{"a":['.repeat(1_500)}1${']}'.repeat(1_500)}`;
    const value: unknown = JSON.parse(text);
    expect(JSON.stringify(value)).toBe(text);
    expect(canonicalJson(value)).toBe(text);
  });
});

describe('the hashes in stored logs', () => {
  it('are those of version 0.1.0 for the arguments of a tool call', async () => {
    const approvals = exportedLines('log-0.1.0/exports/*.jsonl').flatMap(
      (line) => z.looseObject({ event: Approval }).safeParse(line).data?.event ?? [],
    );
    expect(approvals.length).toBeGreaterThan(2);
    for (const approval of approvals)
      expect(await contentHash(approval.arguments)).toBe(approval.argumentsHash);
  });

  it('are pinned for arguments and for the fingerprint of a message', async () => {
    const image = undefined;
    expect(await contentHash({ text: 'once only', image })).toBe(
      'e271391eca398105923ad5f6fca3ebf0f12c95c5793ed0b9f35b1be10ee72a21',
    );
    expect(await contentHash({ z: [1e21, -0, 1e-7], é: { 10: 1, 9: '\ud83d' } })).toBe(
      '814f8b26a2d2140e9094696b8483ae923d8b1aabab16abf56a61a07365db98ce',
    );
  });
});
