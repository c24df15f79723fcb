import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConsoleFile, ContentEncoding } from '../gateway/console/console-routes.ts';
import { findPackageRoot } from './package-root.ts';

const suffixes: Readonly<Record<ContentEncoding, string>> = { br: '.br', gzip: '.gz', identity: '' };

/** The files that `npm run build:console` made; none if it was not run. A file is read at its first request. */
export function consoleFiles(folder = join(findPackageRoot(), 'dist', 'console')): ConsoleFile[] {
  const names = listFiles(folder);
  const known = new Set(names);
  return names
    .filter((name) => !/\.(?:br|gz)$/.test(name))
    .map((name) => {
      const contents = new Map<ContentEncoding, Promise<Uint8Array>>();
      return {
        path: `/${name}`,
        async read(encoding) {
          if (!known.has(name + suffixes[encoding])) return null;
          const content = contents.get(encoding) ?? readFile(join(folder, name + suffixes[encoding]));
          contents.set(encoding, content);
          // The next request tries again.
          content.catch(() => contents.delete(encoding));
          return content;
        },
      };
    });
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        join(parentPath, name)
          .slice(folder.length + 1)
          .replaceAll('\\', '/'),
      );
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
