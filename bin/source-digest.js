// Plain JavaScript, because it decides whether there is TypeScript to run.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that the server is built from. The console is not part of the server. */
const sources = [
  ...['build/bundle.js', 'build/server-bundle.js', 'build/uws.js', 'package-lock.json'],
  ...['machines', 'src'],
];
const notBuilt = join('src', 'console');

/** A digest of the contents of the server's sources in a checkout. The times of the files do not matter. */
export function sourceDigest(root) {
  return digestOf(root, sources, notBuilt);
}

/** The same for files, and for all files of folders but one. Throws if one of them is missing. */
export function digestOf(root, paths, leftOut) {
  const digest = createHash('sha256');
  for (const file of paths.flatMap((path) => filesAt(root, path, leftOut)))
    digest.update(`${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}

function filesAt(root, path, leftOut) {
  return statSync(join(root, path)).isDirectory() ? filesIn(root, path, leftOut) : [path];
}

function filesIn(root, folder, leftOut) {
  if (folder === leftOut) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesIn(root, path, leftOut);
      // Editors leave dangling links.
      return entry.isFile() ? [path] : [];
    });
}
