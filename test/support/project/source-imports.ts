import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

export interface SourceImport {
  /** Path from the project's root. */
  readonly file: string;
  /** A path from the project's root for a file of the project, else the name of the package (`node:` for builtins). */
  readonly target: string;
  /** Whether the import is gone when the code runs. */
  readonly typeOnly: boolean;
}

const IMPORT =
  /(?:^|[\s;}])(?:import|export)\s+(type\s+)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** Every import of every source file: static, dynamic and of types. */
export function sourceImports(): SourceImport[] {
  const files = globSync('{src,machines}/**/*.{ts,tsx}', { cwd: projectRoot }).filter(
    (file) => !file.endsWith('.d.ts'),
  );
  return files.flatMap((file) => importsOf(file, readFileSync(join(projectRoot, file), 'utf8')));
}

export function importsOf(file: string, source: string): SourceImport[] {
  return [...source.matchAll(IMPORT)].map(([, typeOnly, fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? '';
    return { file, target: resolve(file, specifier), typeOnly: typeOnly !== undefined };
  });
}

function resolve(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier));
  if (specifier.startsWith('node:')) return 'node:';
  const [scope = '', name = ''] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
