// Plain JavaScript, because it decides whether there is TypeScript to run.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceDigest } from './source-digest.js';

/**
 * The file to run. A checkout runs its build, which starts in half the time, if the build was made from the present
 * sources, and otherwise its sources. The package has only the build.
 */
export function findMain(root) {
  const source = join(root, 'src', 'app', 'main.ts');
  const built = join(root, 'dist', 'server', 'main.js');
  if (!existsSync(source)) return { file: built, fromSource: false };
  const isCurrent = existsSync(built) && isUpToDate(root);
  return { file: isCurrent ? built : source, fromSource: !isCurrent };
}

/** False also if a file is missing that the comparison needs. */
function isUpToDate(root) {
  try {
    return readFileSync(join(root, 'dist', 'server', 'source-digest'), 'utf8') === sourceDigest(root);
  } catch {
    return false;
  }
}
