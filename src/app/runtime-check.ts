import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findPackageRoot } from './package-root.ts';

/**
 * Explains in one line why this Node cannot run the service; undefined if it can. Call it before anything imports
 * uWebSockets.js. The check is shared with `bin/agent-service.js`. It is imported by its path from the package root,
 * because `bin` stays in place when the sources are built.
 */
export async function checkRuntime(): Promise<string | undefined> {
  const file = join(findPackageRoot(), 'bin', 'runtime-check.js');
  const check: typeof import('../../bin/runtime-check.js') = await import(pathToFileURL(file).href);
  return check.checkRuntime({ fromSource: import.meta.url.endsWith('.ts') });
}
