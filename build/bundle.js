// Puts the server and the packages it stands on into a few files: of the 500 that they are, a start takes twice as long.
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { sourceDigest } from '../bin/source-digest.js';

const served = 'dist/server';
/** A service that runs from the last build loads some of its files late: they are replaced in one go. */
const outDir = 'dist/server-next';
/** Of the sources as they are before any is read: what is saved meanwhile makes the build an old one. */
const digest = sourceDigest(fileURLToPath(new URL('..', import.meta.url)));

const NO_AJV = '\0no-ajv';

/** V8 keeps a whole file in twice the memory for one character beyond Latin-1. Its escape may stand wherever it may. */
const inLatin1 = {
  name: 'in-latin-1',
  generateBundle(_, files) {
    for (const file of Object.values(files))
      if (file.type === 'chunk')
        file.code = file.code.replace(
          /[^\0-\xff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
  },
};

/**
 * The SDK imports Ajv for clients and servers that are given no validator; ours are. Where it is needed it is loaded
 * late.
 */
const withoutEagerAjv = {
  name: 'without-eager-ajv',
  enforce: 'pre',
  resolveId(source, importer) {
    const isOfSdk = importer?.includes('/@modelcontextprotocol/sdk/');
    return isOfSdk && source === '../validation/ajv-provider.js' ? NO_AJV : undefined;
  },
  load(id) {
    if (id !== NO_AJV) return undefined;
    return "export class AjvJsonSchemaValidator { constructor() { throw new Error('no jsonSchemaValidator was given'); } }";
  },
};

await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  // No variable of whoever builds gets into the code.
  envDir: false,
  ssr: {
    noExternal: true,
    // A binary, which each installation has for its own platform.
    external: ['uWebSockets.js'],
  },
  plugins: [withoutEagerAjv, inLatin1],
  build: {
    ssr: true,
    target: 'es2024',
    outDir,
    emptyOutDir: true,
    // What a stack trace shows is what was written.
    minify: false,
    rolldownOptions: {
      // The log's thread is started by the name of its file.
      input: { main: 'src/app/main.ts', 'event-log-worker': 'src/adapters/sqlite/event-log-worker.ts' },
      // Names that stay, so that the compile cache of one build is replaced by that of the next.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
});
// The server reads it from beside its code.
cpSync('src/gateway/documents/docs.css', `${outDir}/docs.css`);
writeFileSync(`${outDir}/source-digest`, digest);
rmSync(served, { recursive: true, force: true });
renameSync(outDir, served);
