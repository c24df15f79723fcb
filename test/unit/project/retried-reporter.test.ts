import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flakyLines } from '../../support/project/retried-reporter.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

const FLAKY = `
import { expect, it } from 'vitest';
let tries = 0;
it('needs two tries', () => {
  tries += 1;
  expect(tries).toBe(2);
});
it('needs one try', () => expect(1).toBe(1));
`;

describe('tests that passed only when they ran again', () => {
  it('are named with what was wrong the first time, and others are not', () => {
    const flaky = { name: 'a > b', file: 'a.test.ts', isFlaky: true, errors: ['one\ntwo'] };
    expect(flakyLines([flaky, { ...flaky, isFlaky: false }])).toEqual(['a.test.ts > a > b: one']);
  });

  it('are named by a run that has passed', async () => {
    await using folder = await tempDirectory();
    await writeFile(join(folder.path, 'flaky.test.ts'), FLAKY);
    const reporter = JSON.stringify(join(projectRoot, 'test/support/project/retried-reporter.ts'));
    await writeFile(
      join(folder.path, 'vitest.config.ts'),
      `import { RetriedReporter } from ${reporter};
       export default { test: { retry: 1, reporters: ['dot', new RetriedReporter()] } };`,
    );
    const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run', '--root', folder.path], {
      cwd: projectRoot,
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
    expect(stderr).toContain('flaky.test.ts > needs two tries: expected 1 to be 2');
    expect(stderr).not.toContain('needs one try');
  });
});
