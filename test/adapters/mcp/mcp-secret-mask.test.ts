import { expect, test } from 'vitest';
import { secretMask } from '../../../src/adapters/mcp/failure/secret-mask.ts';

const stdio = (more: { env?: Record<string, string>; args?: string[] }) =>
  secretMask({ type: 'stdio', command: 'x', ...more });

test('hides long values, and short ones whose name sounds secret', () => {
  const mask = stdio({ env: { DB_PASS: 'abcd', WORKSPACE: 'long-enough-to-matter', LEVEL: 'info' } });
  expect(mask('abcd long-enough-to-matter info')).toBe('*** *** info');
});

test('hides the whole of a secret that contains another', () => {
  const mask = stdio({ env: { A_TOKEN: 'abcdef', B_TOKEN: 'abcdefghij' } });
  expect(mask('abcdefghij abcdef')).toBe('*** ***');
});

test('hides the password of a database URL', () => {
  const mask = stdio({ env: { DATABASE_URL: 'postgres://me:s%40crud@db/app' } });
  expect(mask('login of me with s@crud failed')).toBe('login of me with *** failed');
});

test('hides arguments behind flags that sound secret', () => {
  const mask = stdio({ args: ['--api-key', 'sk-1', '--token=tk-2', '--verbose', 'plain'] });
  expect(mask('sk-1 tk-2 plain')).toBe('*** *** plain');
});

test('hides headers with and without their scheme, and what a URL carries', () => {
  const mask = secretMask({
    type: 'http',
    baseUrl: 'http://me:p%25ss@host/mcp?key=q-123',
    headers: { Authorization: 'Bearer abc-def' },
  });
  expect(mask('Bearer abc-def, abc-def, p%ss, p%25ss, q-123')).toBe('***, ***, ***, ***, ***');
});
