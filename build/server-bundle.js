// Puts a program for Node and the packages it stands on into a few files: of the hundreds that they are, a start takes twice as long.
import { build } from 'vite';

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

/** `external`: packages that stay outside. */
export async function bundleServer(input, outDir, { external = [] } = {}) {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    // No variable of whoever builds gets into the code.
    envDir: false,
    ssr: {
      noExternal: true,
      // A binary, which each installation has for its own platform.
      external: ['uWebSockets.js', ...external],
    },
    plugins: [withoutEagerAjv, inLatin1],
    build: {
      ssr: true,
      target: 'es2024',
      outDir,
      emptyOutDir: true,
      // What stands in the bundle has authors, and licences that want to be told.
      license: { fileName: 'third-party-licenses.md' },
      // What a stack trace shows is what was written.
      minify: false,
      rolldownOptions: {
        input,
        // Names that stay, so that the compile cache of one build is replaced by that of the next.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
}
