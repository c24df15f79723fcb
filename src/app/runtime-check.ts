import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findPackageRoot } from './package-root.ts';

/**
 * Says in one line why this Node cannot run the service; undefined when it can. To be asked before anything
 * imports uWebSockets.js. The check is the one of `bin/agent-service.js`, found from the package's root
 * because that file stays where it is when the sources are built.
 */
export async function checkRuntime(): Promise<string | undefined> {
  const file = join(findPackageRoot(), 'bin', 'runtime-check.js');
  const check: typeof import('../../bin/runtime-check.js') = await import(pathToFileURL(file).href);
  // Whoever runs this has already run TypeScript, or does not need to.
  return check.checkRuntime({ fromSource: false });
}
