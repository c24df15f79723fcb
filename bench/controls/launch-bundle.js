// As bin/agent-service.js starts the service: what V8 made of the code is kept for the next start.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openCompileCache, saveCompileCache } from '../../bin/compile-cache.js';

openCompileCache(fileURLToPath(new URL('../..', import.meta.url)));
await import(pathToFileURL(process.argv[2]).href);
saveCompileCache();
