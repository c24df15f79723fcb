// Makes dist/server, which is published, and which a checkout runs while its sources do not change.
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourceDigest } from '../bin/source-digest.js';
import { bundleServer } from './server-bundle.js';

const served = 'dist/server';
/** Renamed when complete: a running service loads some files of the last build late, so they must change in one go. */
const outDir = 'dist/server-next';
/** Computed before the build reads the sources: a change during the build then makes the build outdated. */
const digest = sourceDigest(fileURLToPath(new URL('..', import.meta.url)));

// The log's thread is started by its file name, so it is a bundle of its own.
const input = { main: 'src/app/main.ts', 'event-log-worker': 'src/adapters/sqlite/log/event-log-worker.ts' };
await bundleServer(input, outDir);
// The server reads this file from the folder of its code.
cpSync('src/gateway/documents/docs.css', `${outDir}/docs.css`);
// The package that carries the binaries of uWebSockets.js has a licence of its own, but not theirs.
const apache = readFileSync('node_modules/@opentelemetry/api/LICENSE', 'utf8').replaceAll(/^/gm, '> ');
appendFileSync(
  `${outDir}/third-party-licenses.md`,
  `\n## uWebSockets.js - 20 (Apache-2.0)\n\nInstalled beside this program, with µSockets (Apache-2.0), BoringSSL and lsquic (MIT) in its binaries. https://github.com/uNetworking/uWebSockets.js\n\n> Copyright © 2018 Alex Hultman and contributors.\n>\n${apache}\n`,
);
writeFileSync(`${outDir}/source-digest`, digest);
rmSync(served, { recursive: true, force: true });
renameSync(outDir, served);
