import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleServer } from '../../build/server-bundle.js';
import { controlFile } from './subjects.ts';

/** Runs a bundle with a compile cache, as the command of the service does. */
export const launcher = fileURLToPath(new URL('../controls/launch-bundle.js', import.meta.url));

/**
 * Bundles a control as the service is bundled. Otherwise the start of a bundle would be compared with the loading of
 * some hundred files.
 * @returns the path of the bundle, for the `launcher`.
 */
export async function bundledControl(name: string): Promise<string> {
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
