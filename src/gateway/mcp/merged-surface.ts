import type { McpCall } from './mcp-call.ts';
import type { McpObject } from './mcp-object.ts';
import type { McpHandler, McpSurface, NamedParams, UriParams } from './mcp-surface.ts';

/** What belongs to the first of two surfaces. Nobody else has these names. */
export interface OwnNames {
  readonly tools: ReadonlySet<string>;
  readonly uris: ReadonlySet<string>;
}

/** Two surfaces as one. The lists have what the first one offers in front. */
export function mergedSurface(first: McpSurface, own: OwnNames, second: McpSurface): McpSurface {
  const isTool = ({ name }: NamedParams): boolean => own.tools.has(name);
  const isResource = ({ uri }: UriParams): boolean => own.uris.has(uri);
  return {
    ...first,
    ...second,
    capabilities: mergedCapabilities(first.capabilities, second.capabilities),
    ...given('listTools', both('tools', first.listTools, second.listTools)),
    ...given('listResources', both('resources', first.listResources, second.listResources)),
    ...given('listTemplates', both('resourceTemplates', first.listTemplates, second.listTemplates)),
    ...given('callTool', chosen(isTool, first.callTool, second.callTool)),
    ...given('readResource', chosen(isResource, first.readResource, second.readResource)),
    async watch(params, call) {
      const { watch } = isResource(params) ? first : second;
      return (await watch?.(params, call)) ?? (() => undefined);
    },
    onChange(listener, context) {
      const stops = [first.onChange?.(listener, context), second.onChange?.(listener, context)];
      return () => {
        for (const stop of stops) stop?.();
      };
    },
  };
}

function given<K extends keyof McpSurface>(
  key: K,
  value: McpSurface[K] | undefined,
): Pick<McpSurface, K> | object {
  return value === undefined ? {} : { [key]: value };
}

type Handler<Params> = McpHandler<Params> | undefined;

/** One list of two. It stays good as long as the one that changes sooner. */
function both<Params>(field: string, one: Handler<Params>, other: Handler<Params>): Handler<Params> {
  if (!one || !other) return one ?? other;
  return async (params: Params, call: McpCall) => {
    const [a, b] = await Promise.all([one(params, call), other(params, call)]);
    const ttlMs = Math.min(Number(a.ttlMs ?? 0), Number(b.ttlMs ?? 0));
    return { ...a, ...b, ttlMs, [field]: [...listOf(a[field]), ...listOf(b[field])] };
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function chosen<Params>(
  isFirst: (params: Params) => boolean,
  one: Handler<Params>,
  other: Handler<Params>,
): Handler<Params> {
  if (!one || !other) return one ?? other;
  return (params, call) => (isFirst(params) ? one : other)(params, call);
}

function mergedCapabilities(one: McpObject, other: McpObject): McpObject {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => [name, { ...Object(one[name]), ...Object(other[name]) }]),
  );
}
