import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findMain } from '../../../bin/find-main.js';
import { sourceDigest } from '../../../bin/source-digest.js';
import { tempDirectory } from '../../support/service/temp-directory.ts';

const source = join('src', 'app', 'main.ts');
const built = join('dist', 'server', 'main.js');
const digest = join('dist', 'server', 'source-digest');

async function write(root: string, file: string, text = ''): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

/** A checkout whose build was made of what is there. */
async function checkout(): Promise<{ path: string } & AsyncDisposable> {
  const temp = await tempDirectory();
  for (const file of [
    source,
    'machines/a.machine.ts',
    'build/bundle.js',
    'build/server-bundle.js',
    'build/uws.js',
    'package-lock.json',
    built,
  ])
    await write(temp.path, file);
  await write(temp.path, digest, sourceDigest(temp.path));
  return temp;
}

it('runs the build of a package, which has no sources', async () => {
  await using temp = await tempDirectory();
  expect(findMain(temp.path)).toEqual({ file: join(temp.path, built), fromSource: false });
});

it('runs the build of a checkout that was made of its sources', async () => {
  await using temp = await checkout();
  expect(findMain(temp.path)).toEqual({ file: join(temp.path, built), fromSource: false });
});

it.each([
  ['a source that was changed', source],
  ['a source that is new', 'src/core/new.ts'],
  ['a machine that was changed', 'machines/a.machine.ts'],
  ['other versions of the packages', 'package-lock.json'],
])('runs the sources of a checkout with %s since the build', async (_, file) => {
  await using temp = await checkout();
  await write(temp.path, file, 'changed');
  expect(findMain(temp.path)).toEqual({ file: join(temp.path, source), fromSource: true });
});

it('runs the sources of a checkout without a build', async () => {
  await using temp = await tempDirectory();
  for (const file of [
    source,
    'machines/a.machine.ts',
    'build/bundle.js',
    'build/server-bundle.js',
    'build/uws.js',
    'package-lock.json',
  ])
    await write(temp.path, file);
  expect(findMain(temp.path).fromSource).toBe(true);
});

it('runs the sources of a checkout that cannot be compared with its build', async () => {
  await using temp = await checkout();
  await rm(join(temp.path, 'package-lock.json'));
  expect(findMain(temp.path)).toEqual({ file: join(temp.path, source), fromSource: true });
});

it('runs the build of a checkout in which an editor has left a link to nowhere', async () => {
  await using temp = await checkout();
  await symlink('nobody@nowhere:1', join(temp.path, 'src/app/.#main.ts'));
  expect(findMain(temp.path).fromSource).toBe(false);
});

it('does not build the page, so a change of it leaves the build current', async () => {
  await using temp = await checkout();
  await write(temp.path, 'src/console/main.tsx', 'changed');
  expect(findMain(temp.path).fromSource).toBe(false);
});
