import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleServer } from '../../build/server-bundle.js';
import { type Contender, control } from './contenders.ts';
import type { Scope } from './scope.ts';
import { controlFile, started } from './subjects.ts';

/** Runs a bundle with a compile cache, as the command of the service does. */
const launcher = fileURLToPath(new URL('../controls/launch-bundle.js', import.meta.url));

/**
 * A control from a bundle, made as that of the service. Otherwise the start of a bundle would be compared with the
 * loading of some hundred files.
 */
export async function bundledControl(scope: Scope, name: string, file: string): Promise<Contender[]> {
  if (scope.isComparison) return [];
  const bundle = await bundleOf(file);
  return control(scope, name, () => started(scope, launcher, { args: [bundle] }));
}

/** @returns the path of the bundle. */
async function bundleOf(name: string): Promise<string> {
  // Below node_modules, so that the bundle finds the binary of uWebSockets.js.
  const folder = fileURLToPath(
    new URL(`../../node_modules/.cache/agent-service-bench/${name}`, import.meta.url),
  );
  mkdirSync(folder, { recursive: true });
  await bundleServer({ [name]: controlFile(name) }, folder, {
    // Optional binaries of ws, which are not installed.
    external: ['bufferutil', 'utf-8-validate'],
  });
  return join(folder, `${name}.js`);
}
