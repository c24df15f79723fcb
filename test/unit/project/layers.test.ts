import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importsOf, projectRoot, sourceImports } from '../../support/project/source-imports.ts';

/** What each layer may import: layers of the project, packages, and `node:` for Node's own modules. */
const rules: Readonly<Record<string, readonly string[]>> = {
  'src/core': ['src/core', 'zod'],
  'src/ports': ['src/ports', 'src/core'],
  'src/wire': ['src/wire', 'src/core', 'zod'],
  'src/config': ['src/config', 'src/core', 'node:', 'zod', 'yaml', 'leven'],
  'src/timing': ['src/timing', 'xstate'],
  'src/network': ['src/network', 'node:', 'ipaddr.js'],
  // What the adapters of model providers have in common.
  'src/model-http': [
    'src/model-http',
    'src/config/schema',
    'src/core',
    'src/ports',
    'src/timing',
    'node:',
    'zod',
    'eventsource-parser',
  ],
  // What the adapters that store the log have in common.
  'src/stored-log': ['src/stored-log', 'src/core', 'src/ports', 'node:', 'zod'],
  machines: ['machines', 'src/core', 'xstate'],
  'src/runtime': [
    'src/runtime',
    'src/core',
    'src/ports',
    'src/timing',
    'machines',
    'xstate',
    'eventemitter3',
    'lru-cache',
    'zod',
  ],
  'src/replay': ['src/replay', 'src/core', 'src/ports', 'src/runtime', 'xstate'],
  'src/gateway': [
    'src/gateway',
    'src/config/schema',
    // Finds the field that was meant.
    'src/config/problems',
    'src/core',
    'src/ports',
    'src/wire',
    'node:',
    'zod',
    'rate-limiter-flexible',
    'negotiator',
    'ipaddr.js',
    '@modelcontextprotocol/server',
  ],
  'src/adapters/ajv': ['ajv', 'node:'],
  'src/adapters/memory': [],
  'src/adapters/sqlite': ['src/stored-log', 'src/timing', 'node:'],
  'src/adapters/nats': ['src/config/addresses', '@nats-io/transport-node'],
  'src/adapters/postgres': ['src/config/addresses', 'src/stored-log', 'src/timing', 'pg', 'lru-cache', 'zod'],
  'src/adapters/openai': ['src/model-http', 'src/config/schema', 'openai'],
  'src/adapters/anthropic': ['src/model-http', 'src/config/schema', 'node:', '@anthropic-ai/sdk'],
  'src/adapters/scripted': ['src/config/schema', 'node:'],
  'src/adapters/secret-key': ['node:'],
  'src/adapters/jwt': ['src/config/schema', 'src/timing', 'node:', 'jose', 'lru-cache'],
  'src/adapters/push': ['src/network', 'node:'],
  'src/adapters/sha256': ['node:'],
  'src/adapters/prometheus': ['prom-client'],
  'src/adapters/opentelemetry': ['src/timing', '@opentelemetry'],
  'src/adapters/mcp': [
    'src/network',
    'src/timing',
    'node:',
    '@modelcontextprotocol/sdk',
    'eventsource-parser',
    'jose',
  ],
  'src/adapters/uws': ['src/timing', 'node:', 'uWebSockets.js'],
  // It runs in browsers: only types come from the other layers, so that no package comes along.
  'src/client': ['src/client', 'src/core', 'src/wire'],
  // It runs in browsers too: what it imports of the service is what clients have, and the machines to draw them.
  'src/console': [
    'src/console',
    'src/client',
    'src/core',
    'machines',
    'react',
    'react-dom',
    'react-markdown',
    'remark-gfm',
    'lowlight',
    '@xyflow/react',
    'elkjs',
    '@rjsf/core',
    '@rjsf/utils',
    '@cfworker/json-schema',
    'eventsource-parser',
    'oidc-client-ts',
    'xstate',
    'vite',
    '@vitejs/plugin-react',
    'node:',
  ],
  'src/app': [''],
  'src/cli': [''],
};

/** Of which layers and packages only types may be imported. */
const typesOnly: Readonly<Record<string, readonly string[]>> = {
  // The SDKs would be loaded for nothing: requests are made, and answers read, by hand.
  'src/adapters/openai': ['openai', 'src/config'],
  'src/adapters/anthropic': ['@anthropic-ai/sdk', 'src/config'],
  'src/adapters/scripted': ['src/config'],
  'src/adapters/jwt': ['src/config'],
  'src/gateway': ['src/config/schema'],
  'src/client': ['src/core', 'src/wire'],
  'src/console': ['src/core'],
};

/** Files that browsers may load all the same: they load no other. */
const withoutPackages: ReadonlySet<string> = new Set([
  'src/core/log/legacy-sentences.ts',
  'src/core/percent-decoded.ts',
  'src/core/visible.ts',
]);

const imports = sourceImports();

function layerOf(file: string): string {
  const layer = Object.keys(rules).find((folder) => file.startsWith(`${folder}/`));
  if (layer === undefined) throw new Error(`${file} stands in no known layer`);
  return layer;
}

function isAllowed(file: string, target: string, typeOnly = false): boolean {
  const layer = layerOf(file);
  const isTypes = typesOnly[layer]?.some((only) => isWithin(target, only)) && !withoutPackages.has(target);
  if (!typeOnly && isTypes) return false;
  const own = layer.startsWith('src/adapters/') ? [layer, 'src/core', 'src/ports', 'zod'] : [];
  return [...(rules[layer] ?? []), ...own].some((allowed) => allowed === '' || isWithin(target, allowed));
}

function isWithin(target: string, folder: string): boolean {
  return target === folder || target.startsWith(`${folder}/`);
}

/** What a layer may import of others and does not. */
function unusedBy(layer: string): string[] {
  const targets = imports.filter(({ file }) => layerOf(file) === layer).map(({ target }) => target);
  return (rules[layer] ?? [])
    .filter((allowed) => allowed !== layer && allowed !== '')
    .filter((allowed) => !targets.some((target) => isWithin(target, allowed)))
    .map((allowed) => `${layer}: ${allowed}`);
}

/** The folders that the page of the architecture names in the row of a layer. */
function foldersShownOf(layer: string): string[] {
  const page = readFileSync(join(projectRoot, 'docs/architecture.md'), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith(`| \`${layer}\` |`));
  const [, , what = ''] = row?.split('|') ?? [];
  return [...what.matchAll(/`([a-z0-9-]+)`/g)].map(([, name = '']) => name);
}

const Packages = z.record(z.string(), z.string()).transform((versions) => Object.keys(versions));
const { dependencies, devDependencies } = z
  .object({ dependencies: Packages, devDependencies: Packages })
  .parse(JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')));

/** The service and the console are bundled with their packages. The client is published as it is, with its types. */
function packagesFor(file: string, typeOnly: boolean): readonly string[] {
  const isPublished = /^src\/(client|core|wire)\//.test(file) && (typeOnly || file.startsWith('src/client/'));
  return isPublished ? dependencies : [...dependencies, ...devDependencies];
}

describe('the layers', () => {
  it('are found with their imports', () => {
    expect(imports.length).toBeGreaterThan(200);
    expect(imports).toContainEqual({
      file: 'src/cli/run/run-service.ts',
      target: 'src/app/agents/agent-host.ts',
      typeOnly: false,
    });
    expect(
      importsOf('src/app/x.ts', "const y = await import('../core/z.ts');\nexport type { A } from 'zod';"),
    ).toEqual([
      { file: 'src/app/x.ts', target: 'src/core/z.ts', typeOnly: false },
      { file: 'src/app/x.ts', target: 'zod', typeOnly: true },
    ]);
  });

  it('import only what they may', () => {
    const forbidden = imports.filter(({ file, target, typeOnly }) => !isAllowed(file, target, typeOnly));
    expect(forbidden.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  it('import all that they may', () => {
    expect(Object.keys(rules).flatMap((layer) => unusedBy(layer))).toEqual([]);
  });

  it('import packages of package.json, and what is published without them its dependencies', () => {
    const missing = imports
      .filter(({ target }) => !/^(src|machines|bin)\/|^node:/.test(target))
      .filter(({ file, target, typeOnly }) => !packagesFor(file, typeOnly).includes(target));
    expect(missing).toEqual([]);
  });

  it('would notice a forbidden import', () => {
    expect(isAllowed('src/core/x.ts', 'xstate')).toBe(false);
    expect(isAllowed('src/core/x.ts', 'src/config/schema/agent-config.ts')).toBe(false);
    expect(isAllowed('src/gateway/x.ts', 'src/runtime/bus/local-bus.ts')).toBe(false);
    expect(isAllowed('src/adapters/uws/x.ts', 'src/gateway/http/http-front.ts')).toBe(false);
    expect(isAllowed('src/adapters/openai/x.ts', 'src/adapters/mcp/mcp-connector.ts')).toBe(false);
    expect(isAllowed('src/adapters/openai/x.ts', 'openai')).toBe(false);
    expect(isAllowed('src/adapters/openai/x.ts', 'openai', true)).toBe(true);
    expect(isAllowed('src/adapters/anthropic/x.ts', 'src/adapters/openai/chat/chat-event.ts')).toBe(false);
    expect(isAllowed('src/model-http/x.ts', 'openai', true)).toBe(false);
    expect(isAllowed('src/runtime/x.ts', 'src/app/compose.ts')).toBe(false);
    // What replays makes no call to the outside, because it has nothing to make one with.
    expect(isAllowed('src/replay/x.ts', 'node:')).toBe(false);
    expect(isAllowed('src/replay/x.ts', 'src/app/adapters/real-model.ts')).toBe(false);
    expect(isAllowed('src/replay/x.ts', 'src/model-http/http/http-post.ts')).toBe(false);
    expect(isAllowed('src/client/x.ts', 'src/wire/frames.ts')).toBe(false);
    expect(isAllowed('src/client/x.ts', 'src/wire/frames.ts', true)).toBe(true);
    expect(isAllowed('src/client/x.ts', 'node:')).toBe(false);
  });

  it('have folders of the runtime that use only those before them', () => {
    const order = [
      'streams',
      'access',
      'bus',
      'machines',
      'tools',
      'turns',
      'sessions',
      'requests',
      'push',
      'agents',
      'cluster',
    ];
    const placeOf = (file: string): number => order.indexOf(file.split('/')[2] ?? '');
    const inside = imports.filter(
      ({ file, target }) => file.startsWith('src/runtime/') && target.startsWith('src/runtime/'),
    );
    expect(inside.length).toBeGreaterThan(30);
    const upwards = inside.filter(
      ({ file, target }) => placeOf(target) > placeOf(file) || placeOf(target) < 0,
    );
    expect(upwards.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
    expect(foldersShownOf('src/runtime')).toEqual(order);
  });

  it.each(['src/core', 'src/runtime', 'src/gateway'])('are shown with all folders of %s', (layer) => {
    const folders = readdirSync(join(projectRoot, layer), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(foldersShownOf(layer).toSorted()).toEqual(folders.toSorted());
  });

  it('leave the thread of the log without any package: a megabyte there is one more of every service', () => {
    const loaded = reachable('src/adapters/sqlite/log/event-log-worker.ts');
    expect(loaded).toContain('src/adapters/sqlite/log/event-log.ts');
    expect(loaded.filter((target) => target !== 'node:' && !target.startsWith('src/'))).toEqual([]);
  });

  it('give to browsers only what loads nothing else', () => {
    expect([...withoutPackages].flatMap((file) => reachable(file))).toEqual([...withoutPackages]);
  });

  it('have no cycle, not even of types', () => {
    expect(findCycle(imports.map(({ file, target }) => [file, target]))).toEqual([]);
  });

  it('would notice a cycle', () => {
    expect(
      findCycle([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ]),
    ).toEqual(['a', 'b', 'c', 'a']);
  });
});

/** What is loaded with a file, itself included. */
function reachable(file: string, known: Set<string> = new Set()): string[] {
  if (known.has(file)) return [];
  known.add(file);
  for (const { file: from, target, typeOnly } of imports)
    if (from === file && !typeOnly) reachable(target, known);
  return [...known];
}

/** The first cycle found, as the path that leads back to its beginning; empty when there is none. */
function findCycle(edges: readonly (readonly [string, string])[]): string[] {
  const next = Map.groupBy(edges, ([from]) => from);
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const [, target] of next.get(node) ?? []) {
      const cycle = visit(target, [...path, node]);
      if (cycle.length > 0) return cycle;
    }
    done.add(node);
    return [];
  };
  for (const node of next.keys()) {
    const cycle = visit(node, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
