import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project/source-imports.ts';

/** The documents of the project, by their paths from its root. */
export const documentFiles: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  ...globSync('docs/**/*.md', { cwd: projectRoot })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted(),
];

export function readDocument(file: string): string {
  return readFileSync(join(projectRoot, file), 'utf8');
}
