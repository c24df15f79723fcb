// Plain JavaScript without anything new in it, as `runtime-check.js`: an older Node has no compile cache.
import * as nodeModule from 'node:module';
import { join } from 'node:path';

/**
 * Keeps what V8 made of the code for the next start, in the folder of the package: who may write there may
 * change the code itself, which is not so of a shared folder for temporary files. Where nobody may, nothing is
 * kept. NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE=1 switches it off.
 */
export function openCompileCache(root) {
  if (nodeModule.enableCompileCache === undefined) return;
  nodeModule.enableCompileCache(join(root, 'node_modules', '.cache', 'agent-service'));
}

/** Writes it now: a service that is killed leaves it, too. */
export function saveCompileCache() {
  if (nodeModule.flushCompileCache !== undefined) nodeModule.flushCompileCache();
}
