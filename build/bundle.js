// Makes dist/server, which is published, and which a checkout runs while its sources do not change.
import { appendFileSync, cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourceDigest } from '../bin/source-digest.js';
import { bundleServer } from './server-bundle.js';
import { copyUws, uwsLicenses, uwsModule } from './uws.js';

const served = 'dist/server';
/** Renamed when complete: a running service loads some files of the last build late, so they must change in one go. */
const outDir = 'dist/server-next';
/** Computed before the build reads the sources: a change during the build then makes the build outdated. */
const digest = sourceDigest(fileURLToPath(new URL('..', import.meta.url)));

// Threads are started by the names of their files, so each is a bundle of its own.
const input = {
  main: 'src/app/main.ts',
  'event-log-worker': 'src/adapters/sqlite/log/event-log-worker.ts',
  'schema-worker': 'src/adapters/ajv/schema-worker.ts',
};
await bundleServer(input, outDir, { paths: { 'uWebSockets.js': uwsModule } });
copyUws(outDir);
// The server reads this file from the folder of its code.
cpSync('src/gateway/documents/docs.css', `${outDir}/docs.css`);
appendFileSync(`${outDir}/third-party-licenses.md`, uwsLicenses());
writeFileSync(`${outDir}/source-digest`, digest);
rmSync(served, { recursive: true, force: true });
renameSync(outDir, served);
