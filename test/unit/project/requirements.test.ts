import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requirements } from '../../e2e/requirements.ts';
import { projectRoot } from '../../support/project/source-imports.ts';

const files = globSync('test/e2e/**/*.test.ts', { cwd: projectRoot });
const sources = files.map((file) => readFileSync(join(projectRoot, file), 'utf8'));
const named = new Set(
  sources.flatMap((source) => [...source.matchAll(/\bverifies\(\s*'([^']+)'/g)].map(([, id]) => id)),
);

/** What can be said before the tests run; whether one of each requirement passes is for requirements-reporter.ts. */
describe('the requirements', () => {
  it('are all named by end-to-end tests, which name no other', () => {
    expect([...named].toSorted()).toEqual(Object.keys(requirements).toSorted());
  });

  it.each(files.map((file, at) => [file, sources[at] ?? '']))(
    '%s has no test without one',
    (_file, source) => {
      const fromVitest = [...source.matchAll(/import \{([^}]*)\} from 'vitest'/g)].map(([, names]) => names);
      expect(fromVitest.join()).not.toMatch(/\b(it|test)\b/);
      expect(source).toContain('verifies(');
    },
  );
});
