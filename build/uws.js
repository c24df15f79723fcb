// Copies uWebSockets.js into the package. Its npm package has 133 MB of binaries; five of them are needed.
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const source = 'node_modules/uWebSockets.js/dist';
/** The ABI of Node 22, see https://nodejs.org/en/download/releases. */
const ABI = 127;
/** There is no binary for Windows on ARM. */
const platforms = ['darwin_arm64', 'darwin_x64', 'linux_arm64', 'linux_x64', 'win32_x64'];

/** Where the bundle imports it from. */
export const uwsModule = './uws/index.mjs';

/** Copies the loader and the binaries of one ABI into the folder of the bundle. */
export function copyUws(outDir) {
  const target = join(outDir, 'uws');
  mkdirSync(join(target, 'bin'), { recursive: true });
  for (const file of ['index.mjs', 'uws.mjs', ...platforms.map((name) => `bin/uws_${name}_${ABI}.node`)])
    cpSync(join(source, file), join(target, file));
}

/** The npm package has a licence of its own, but not those of the binaries. */
export function uwsLicenses() {
  const loader = readFileSync('node_modules/uWebSockets.js/LICENSE', 'utf8').replaceAll(/^/gm, '> ');
  const apache = readFileSync('node_modules/@opentelemetry/api/LICENSE', 'utf8').replaceAll(/^/gm, '> ');
  return [
    '\n## uWebSockets.js - 20 (Apache-2.0)\n',
    'The binaries in `uws/bin`, with µSockets (Apache-2.0), BoringSSL and lsquic (MIT) in them. https://github.com/uNetworking/uWebSockets.js\n',
    `> Copyright © 2018 Alex Hultman and contributors.\n>\n${apache}\n`,
    '## uws-pack - 20.0.8 (MIT)\n',
    `The loader in \`uws\`. https://github.com/uws-ecosystem/uws-pack\n\n${loader}\n`,
  ].join('\n');
}
