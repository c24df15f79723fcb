// Plain JavaScript, because it decides whether there is TypeScript to run.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that the server is built from. The console is not part of the server. */
const folders = ['machines', 'src'];
const files = ['build/bundle.js', 'build/server-bundle.js', 'build/uws.js', 'package-lock.json'];
const notBuilt = join('src', 'console');

/** A digest of the contents of the server's sources in a checkout. The times of the files do not matter. */
export function sourceDigest(root) {
  const digest = createHash('sha256');
  for (const file of [...files, ...folders.flatMap((folder) => filesIn(root, folder))])
    digest.update(`${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}

function filesIn(root, folder) {
  if (folder === notBuilt) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesIn(root, path);
      // Editors leave dangling links.
      return entry.isFile() ? [path] : [];
    });
}
