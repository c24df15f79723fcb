import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { digestOfSources, isBuilt, noteBuild } from '../../../build/built-from.js';
import { tempDirectory } from '../../support/service/temp-directory.ts';

const sources = [
  'bin/agent-service.js',
  'build/bundle.js',
  'machines/a.machine.ts',
  'package-lock.json',
  'package.json',
  'src/app/main.ts',
  'src/console/main.tsx',
  'tsconfig.build.json',
  'tsconfig.json',
];
const results = ['dist/console/index.html', 'dist/server/main.js', 'dist/src/client/session-client.js'];

async function write(root: string, file: string, text = ''): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

/** A checkout whose whole build was made of what is there. */
async function builtCheckout(): Promise<{ path: string } & AsyncDisposable> {
  const temp = await tempDirectory();
  for (const file of [...sources, ...results]) await write(temp.path, file);
  noteBuild(temp.path, digestOfSources(temp.path));
  return temp;
}

it('knows a build of the present sources', async () => {
  await using temp = await builtCheckout();
  expect(isBuilt(temp.path)).toBe(true);
});

it.each([...sources, 'src/core/new.ts'])('does not take a build from before a change of %s', async (file) => {
  await using temp = await builtCheckout();
  await write(temp.path, file, 'changed');
  expect(isBuilt(temp.path)).toBe(false);
});

it.each(results)('does not take a build in which %s was made again from other sources', async (file) => {
  await using temp = await builtCheckout();
  await write(temp.path, file, 'changed');
  expect(isBuilt(temp.path)).toBe(false);
});

it.each([...sources, ...results, 'dist/built-from'])('does not take a build without %s', async (file) => {
  await using temp = await builtCheckout();
  await rm(join(temp.path, file));
  expect(isBuilt(temp.path)).toBe(false);
});

it('does not take a build that a change of the sources has overtaken', async () => {
  await using temp = await builtCheckout();
  const before = digestOfSources(temp.path);
  await write(temp.path, 'src/app/main.ts', 'changed');
  noteBuild(temp.path, before);
  expect(isBuilt(temp.path)).toBe(false);
});
