// Plain JavaScript without recent features, like `runtime-check.js`: an older Node has no compile cache.
import * as nodeModule from 'node:module';
import { join } from 'node:path';

/**
 * Keeps V8's compiled code for the next start in the folder of the package. Whoever can write there can change the code
 * itself, which is not true of a shared folder for temporary files. If the folder is not writable, nothing is kept.
 * NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE=1 switches the cache off.
 */
export function openCompileCache(root) {
  if (nodeModule.enableCompileCache === undefined) return;
  nodeModule.enableCompileCache(join(root, 'node_modules', '.cache', 'agent-service'));
}

/** Writes the cache now, so that a service leaves one even if it is killed later. */
export function saveCompileCache() {
  if (nodeModule.flushCompileCache !== undefined) nodeModule.flushCompileCache();
}
