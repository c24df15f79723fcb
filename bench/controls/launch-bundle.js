// Runs a bundle as bin/agent-service.js runs the service: with V8's compile cache of the last start.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openCompileCache, saveCompileCache } from '../../bin/compile-cache.js';

openCompileCache(fileURLToPath(new URL('../..', import.meta.url)));
await import(pathToFileURL(process.argv[2]).href);
saveCompileCache();
