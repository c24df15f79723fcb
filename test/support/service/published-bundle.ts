import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findMain } from '../../../bin/find-main.js';
import { projectRoot } from '../project/source-imports.ts';
import { tempDirectory } from './temp-directory.ts';

const PUBLISHED = ['agents', 'bin', 'ops', 'package.json'];
const BUILT_OF = ['build', 'machines', 'src', 'package-lock.json'];
const SERVER = 'dist/server';
const PAGE = '<!doctype html><title>the page</title>';

export interface PublishedBundle extends AsyncDisposable {
  /** The published command, for `ProcessOptions`. */
  readonly script: string;
  /** The folder that is laid out like the package. */
  readonly root: string;
}

/**
 * A folder that is laid out like the package, with a bundle of the sources as they are now: a copy of the one in the dist/
 * of the checkout, which is not touched, or a new one if that is old.
 */
export async function publishedBundle(): Promise<PublishedBundle> {
  const temp = await tempDirectory();
  try {
    await layOut(temp.path);
  } catch (error) {
    await temp[Symbol.asyncDispose]();
    throw error;
  }
  return {
    root: temp.path,
    script: relative(projectRoot, join(temp.path, 'bin', 'agent-service.js')),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

async function layOut(folder: string): Promise<void> {
  await copy(PUBLISHED, folder);
  if (findMain(projectRoot).fromSource) await build(folder);
  else await copy([SERVER], folder);
  await linkDependencies(folder);
  // In place of the console, which takes longer to build than all the rest.
  await mkdir(join(folder, 'dist', 'console'));
  await writeFile(join(folder, 'dist', 'console', 'index.html'), PAGE);
}

async function build(folder: string): Promise<void> {
  await copy(BUILT_OF, folder);
  await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  await promisify(execFile)(process.execPath, ['build/bundle.js'], { cwd: folder });
  // The command would run the sources if they were still there.
  for (const name of [...BUILT_OF, 'node_modules']) await rm(join(folder, name), { recursive: true });
}

async function copy(names: readonly string[], folder: string): Promise<void> {
  for (const name of names) await cp(join(projectRoot, name), join(folder, name), { recursive: true });
}

const Packages = z.record(z.string(), z.string());
const Manifest = z.object({ dependencies: Packages, optionalDependencies: Packages });

/** Those of the package and no others: a bundle must not find what only a checkout has. */
async function linkDependencies(folder: string): Promise<void> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { dependencies, optionalDependencies } = Manifest.parse(JSON.parse(text));
  for (const name of ['.bin', ...Object.keys({ ...dependencies, ...optionalDependencies })]) {
    const installed = join(projectRoot, 'node_modules', name);
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    if (existsSync(installed)) await symlink(installed, link);
  }
}
