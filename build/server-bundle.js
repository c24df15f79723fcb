// Bundles a Node program and its packages into a few files. A start from the hundreds of originals takes twice as long.
import { build } from 'vite';

const NO_AJV = '\0no-ajv';

/** V8 keeps a file in twice the memory if one character is beyond Latin-1. Such a character can be escaped anywhere. */
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

/** In the older SDK of MCP, and in the newer one, whose names are made by a bundler. */
const AJV_PROVIDER = /^\.\.\/validation\/ajv-provider\.js$|^\.\/ajvProvider-\w+\.mjs$/;

/** The MCP SDKs import Ajv for clients and servers without a validator. Ours have one, and load Ajv late. */
const withoutEagerAjv = {
  name: 'without-eager-ajv',
  enforce: 'pre',
  resolveId(source, importer) {
    const isOfSdk = importer?.includes('/@modelcontextprotocol/');
    return isOfSdk && AJV_PROVIDER.test(source) ? NO_AJV : undefined;
  },
  load(id) {
    if (id !== NO_AJV) return undefined;
    return "class AjvJsonSchemaValidator { constructor() { throw new Error('no jsonSchemaValidator was given'); } }\nexport { AjvJsonSchemaValidator, AjvJsonSchemaValidator as n };";
  },
};

/** Of the parts of Node that packages import and hardly use. Each takes half a megabyte or more, with all that it imports. */
const LIGHT_BUILTINS = {
  // An import of `node:process` or `node:util` loads whatever they offer, and what is loaded already is at hand.
  process: 'export default globalThis.process;',
  util: "export const { stripVTControlCharacters } = globalThis.process.getBuiltinModule('node:util');",
  // For commands that are programs of their own, of which there are none.
  child_process: 'export default {};',
  assert: 'module.exports = (value, message) => { if (!value) throw new Error(message); };',
};
const LIGHTENED = {
  commander: ['process', 'util', 'child_process'],
  'sonic-boom': ['assert'],
  'thread-stream': ['assert'],
};
const LIGHT = '\0light:';

const withoutHeavyBuiltins = {
  name: 'without-heavy-builtins',
  enforce: 'pre',
  resolveId(source, importer) {
    const name = source.replace(/^node:/, '');
    const [, importing] = /\/node_modules\/([^/]+)\/[^/]+(?:\/[^/]+)*$/.exec(importer ?? '') ?? [];
    return LIGHTENED[importing]?.includes(name) ? `${LIGHT}${name}` : undefined;
  },
  load(id) {
    return id.startsWith(LIGHT) ? LIGHT_BUILTINS[id.slice(LIGHT.length)] : undefined;
  },
};

/** `external`: packages that stay outside. `paths`: files that take the place of such packages. */
export async function bundleServer(input, outDir, { external = [], paths = {} } = {}) {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    // No environment variable of the build gets into the code.
    envDir: false,
    ssr: {
      noExternal: true,
      // A binary, different for each platform.
      external: ['uWebSockets.js', ...external],
    },
    plugins: [withoutEagerAjv, withoutHeavyBuiltins, inLatin1],
    build: {
      ssr: true,
      target: 'es2024',
      outDir,
      emptyOutDir: true,
      // The licences of the bundled packages must be published with them.
      license: { fileName: 'third-party-licenses.md' },
      // Stack traces show the original code.
      minify: false,
      rolldownOptions: {
        input,
        // Stable names, so that the compile cache of each build replaces that of the last one.
        // V8 keeps the text of each file, comments too.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', paths, comments: false },
      },
    },
  });
}
