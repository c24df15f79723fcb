import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { consoleFiles } from '../../../src/app/console-files.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

it('a console file that could not be read once is read at the next request', async () => {
  await using folder = await tempDirectory();
  const path = join(folder.path, 'index.html');
  await writeFile(path, '<html>');
  const [file] = consoleFiles(folder.path);
  await rename(path, `${path}.away`);
  await expect(file?.read('identity')).rejects.toMatchObject({ code: 'ENOENT' });
  await rename(`${path}.away`, path);
  expect(Buffer.from((await file?.read('identity')) ?? []).toString()).toBe('<html>');
});
