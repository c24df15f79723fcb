// Bundles a Node program and its packages into a few files. A start from the hundreds of originals takes twice as long.
import { build } from 'vite';

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

/**
 * Modules that packages import and hardly use, and what takes their place. Each part of Node takes half a megabyte or more,
 * with all that it imports.
 */
const STAND_INS = [
  {
    // For clients and servers without a validator. Ours have one, and load Ajv late.
    within: ['@modelcontextprotocol'],
    // In the older SDK, and in the newer one, whose names are made by a bundler.
    replaces: /^\.\.\/validation\/ajv-provider\.js$|^\.\/ajvProvider-\w+\.mjs$/,
    code: "class AjvJsonSchemaValidator { constructor() { throw new Error('no jsonSchemaValidator was given'); } }\nexport { AjvJsonSchemaValidator, AjvJsonSchemaValidator as n };",
  },
  {
    // An import of `node:process` or `node:util` loads whatever they offer, and what is loaded already is at hand.
    within: ['commander'],
    replaces: /^node:process$/,
    code: 'export default globalThis.process;',
  },
  {
    within: ['commander'],
    replaces: /^node:util$/,
    code: "export const { stripVTControlCharacters } = globalThis.process.getBuiltinModule('node:util');",
  },
  {
    // For commands that are programs of their own, of which there are none.
    within: ['commander'],
    replaces: /^node:child_process$/,
    code: 'export default {};',
  },
  {
    within: ['sonic-boom', 'thread-stream'],
    replaces: /^(node:)?assert$/,
    code: 'module.exports = (value, message) => { if (!value) throw new Error(message); };',
  },
];
const STAND_IN = '\0stand-in:';

const withStandIns = {
  name: 'with-stand-ins',
  enforce: 'pre',
  resolveId(source, importer = '') {
    const isWithin = (name) => importer.includes(`/node_modules/${name}/`);
    const index = STAND_INS.findIndex(
      ({ within, replaces }) => replaces.test(source) && within.some(isWithin),
    );
    return index === -1 ? undefined : `${STAND_IN}${index}`;
  },
  load(id) {
    return id.startsWith(STAND_IN) ? STAND_INS[id.slice(STAND_IN.length)].code : undefined;
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
    plugins: [withStandIns, inLatin1],
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
