import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vitest/config';
import { usesBuild } from './current-build.ts';
import { projectRoot } from './source-imports.ts';

/** The modules that start threads. */
const STARTS_THREAD = /\/src\/adapters\/(sqlite\/log\/log-thread|ajv\/schema-thread)\.ts$/;
/** How they name the file of a thread. */
const FILE = /new URL\(`\.\/([\w-]+)\$\{extname\(import\.meta\.url\)\}`, import\.meta\.url\)/;

/**
 * Where the service runs in the process of a test, its threads run the build, if that is current: from the sources, each
 * start takes twice as long, and each test of a service starts some.
 */
export function builtThreads(): Plugin {
  let isUsed = false;
  return {
    name: 'built-threads',
    enforce: 'pre',
    configureVitest: ({ vitest }) => {
      isUsed = usesBuild(vitest);
    },
    transform: {
      filter: { id: STARTS_THREAD },
      handler: (code, id) => (isUsed ? { code: withBuiltThread(code, id), map: null } : null),
    },
  };
}

function withBuiltThread(code: string, id: string): string {
  const name = FILE.exec(code)?.[1];
  if (name === undefined) throw new Error(`${basename(id)} names the file of its thread in another way`);
  const built = pathToFileURL(join(projectRoot, 'dist', 'server', `${name}.js`));
  return code.replace(FILE, `new URL('${built}')`);
}
