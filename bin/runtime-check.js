// Plain JavaScript without recent features: this must run on a Node that cannot run the rest.
import * as nodeModule from 'node:module';

export const PINNED_NODE = '22.23.2';

/**
 * Explains in one line why this Node cannot run the service, and how to get one that can; undefined if it can.
 *
 * uWebSockets.js ships one binary per Node version and platform; the event log uses node:sqlite; a checkout may run
 * from its TypeScript sources.
 */
export function checkRuntime(probes) {
  return findReason(probes).then((reason) => (reason === undefined ? undefined : describe(reason)));
}

/** Of the URL and the headers of a request, as in Node. The 4 KB of uWebSockets.js are too few for a JWT with many roles. */
const MAX_HEADER_BYTES = '16384';

/** The build has a copy of its own. */
function loadUws(fromSource) {
  // It is read once, as the binary is loaded.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = process.env.UWS_HTTP_MAX_HEADERS_SIZE || MAX_HEADER_BYTES;
  return fromSource ? import('uWebSockets.js') : import('../dist/server/uws/index.mjs');
}

async function findReason({ fromSource, loadServer = () => loadUws(fromSource) }) {
  if (!hasSqlite()) return 'it has no node:sqlite';
  if (fromSource && !process.features.typescript) return 'it cannot run TypeScript';
  try {
    await loadServer();
    return undefined;
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return 'uWebSockets.js is not installed';
    return 'uWebSockets.js has no binary for it';
  }
}

/** Does not load the module, because that would print a warning. */
function hasSqlite() {
  return typeof nodeModule.isBuiltin === 'function' && nodeModule.isBuiltin('node:sqlite');
}

function describe(reason) {
  return (
    `agent-service needs Node 22, version 22.18 or newer (the project pins ${PINNED_NODE}), and cannot run on ` +
    `Node ${process.versions.node} for ${process.platform} ${process.arch}: ${reason}. ` +
    'Run `npm ci`, which installs the right one, and then `npm start` or `npx agent-service`; or `nvm install 22`.'
  );
}
