// Makes dist/server, which is what is published and what starts from a checkout.
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourceDigest } from '../bin/source-digest.js';
import { bundleServer } from './server-bundle.js';

const served = 'dist/server';
/** A service that runs from the last build loads some of its files late: they are replaced in one go. */
const outDir = 'dist/server-next';
/** Of the sources as they are before any is read: what is saved meanwhile makes the build an old one. */
const digest = sourceDigest(fileURLToPath(new URL('..', import.meta.url)));

// The log's thread is started by the name of its file.
const input = { main: 'src/app/main.ts', 'event-log-worker': 'src/adapters/sqlite/log/event-log-worker.ts' };
await bundleServer(input, outDir);
// The server reads it from beside its code.
cpSync('src/gateway/documents/docs.css', `${outDir}/docs.css`);
// Its binaries come by way of another package, which has a licence of its own and not that of what it holds.
const apache = readFileSync('node_modules/@opentelemetry/api/LICENSE', 'utf8').replaceAll(/^/gm, '> ');
appendFileSync(
  `${outDir}/third-party-licenses.md`,
  `\n## uWebSockets.js - 20 (Apache-2.0)\n\nInstalled beside this program, with µSockets (Apache-2.0), BoringSSL and lsquic (MIT) in its binaries. https://github.com/uNetworking/uWebSockets.js\n\n> Copyright © 2018 Alex Hultman and contributors.\n>\n${apache}\n`,
);
writeFileSync(`${outDir}/source-digest`, digest);
rmSync(served, { recursive: true, force: true });
renameSync(outDir, served);
