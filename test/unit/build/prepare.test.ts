import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../support/project/source-imports.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

it('the build of an installation without development packages is left out, which is said and is no error', async () => {
  await using folder = await tempDirectory();
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(projectRoot, 'build', 'prepare.js')], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  expect(stderr).toMatch(
    /^agent-service: nothing was built, because typescript and vite are not installed\./,
  );
});
