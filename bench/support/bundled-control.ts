import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleServer } from '../../build/server-bundle.js';
import { controlFile } from './subjects.ts';

/** Runs a bundle as the service's command runs the service's: with a compile cache. */
export const launcher = fileURLToPath(new URL('../controls/launch-bundle.js', import.meta.url));

/**
 * Bundles a control in the way the service is bundled, so that a start is compared with a start and not a bundle with
 * some hundred files.
 * @returns the bundle, to be given to the `launcher`.
 */
export async function bundledControl(name: string): Promise<string> {
  // Below node_modules, where the binary of uWebSockets.js is found.
  const folder = fileURLToPath(
    new URL(`../../node_modules/.cache/agent-service-bench/${name}`, import.meta.url),
  );
  mkdirSync(folder, { recursive: true });
  await bundleServer({ [name]: controlFile(name) }, folder, {
    // Optional binaries of ws, which nobody has installed.
    external: ['bufferutil', 'utf-8-validate'],
  });
  return join(folder, `${name}.js`);
}
