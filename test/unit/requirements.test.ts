import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requirements } from '../e2e/requirements.ts';
import { projectRoot } from '../support/source-imports.ts';

const files = globSync('test/e2e/**/*.test.ts', { cwd: projectRoot });
const sources = files.map((file) => readFileSync(join(projectRoot, file), 'utf8'));
const verified = new Set(
  sources.flatMap((source) => [...source.matchAll(/\bverifies\(\s*'([^']+)'/g)].map(([, id]) => id)),
);

describe('the requirements', () => {
  it.each(Object.keys(requirements))('%s is verified by an end-to-end test', (id) => {
    expect(verified).toContain(id);
  });

  it('are the only names that end-to-end tests have', () => {
    expect(verified.difference(new Set(Object.keys(requirements)))).toEqual(new Set());
    for (const source of sources) expect(source).not.toMatch(/^\s*(it|test)(\.\w+)?\(/m);
  });
});
