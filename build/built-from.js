// Tells whether dist/ has to be built again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../bin/source-digest.js';

/** Everything that the build reads, and everything that it makes. */
const sources = [
  'bin',
  'build',
  'machines',
  'package-lock.json',
  'package.json',
  'src',
  'tsconfig.build.json',
  'tsconfig.json',
];
const results = ['dist/console', 'dist/server', 'dist/src'];
const record = 'dist/built-from';

/** Whether dist/ is as a whole build has left it, and that build was made from the present sources. */
export function isBuilt(root) {
  try {
    return readFileSync(join(root, record), 'utf8') === textOf(root, digestOfSources(root));
  } catch (error) {
    // A file is missing that the comparison needs.
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

export function digestOfSources(root) {
  return digestOf(root, sources);
}

/** To be called after a whole build, with the digest of its sources from before it. */
export function noteBuild(root, digest) {
  writeFileSync(join(root, record), textOf(root, digest));
}

/** The results too: a part may have been built from other sources since, or was deleted. */
function textOf(root, digest) {
  return `${digest}\n${digestOf(root, results)}\n`;
}
