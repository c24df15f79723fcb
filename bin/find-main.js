// Plain JavaScript, because it decides whether there is TypeScript to run.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceDigest } from './source-digest.js';

/**
 * The file to run. In a checkout that is the build if it was made of the very sources that are there, which
 * starts in half the time, and the sources otherwise; the package has only the build.
 */
export function findMain(root) {
  const source = join(root, 'src', 'app', 'main.ts');
  const built = join(root, 'dist', 'server', 'main.js');
  if (!existsSync(source)) return { file: built, fromSource: false };
  const isCurrent = existsSync(built) && isOfItsSources(root);
  return { file: isCurrent ? built : source, fromSource: !isCurrent };
}

/** What cannot be compared, for want of a build or of a file that it was made of, is not the same. */
function isOfItsSources(root) {
  try {
    return readFileSync(join(root, 'dist', 'server', 'source-digest'), 'utf8') === sourceDigest(root);
  } catch {
    return false;
  }
}
