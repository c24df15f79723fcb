import type { RequestContext } from '../../../core/request/request-context.ts';
import type { OfferKind } from '../../../core/tool-server/forwarded-request.ts';
import type { Bus, Unsubscribe } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import { ifAllowed } from '../if-allowed.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { McpChange, McpSurface, NamedParams, UriParams } from '../mcp-surface.ts';
import { completionFor } from './completions.ts';
import { firstToAccept } from './first-to-accept.ts';
import { Offers } from './offers.ts';
import { RequestForwarder } from './request-forwarder.ts';
import { ResourceWatches } from './resource-watches.ts';

/** What of the tool servers is passed through. */
export type ForwardedKind = 'tools' | 'resources' | 'prompts';

export interface ForwardedSurfaceDeps {
  readonly bus: Bus;
  readonly log: Logger;
  /** Names of tools that no server gets. */
  readonly reserved: ReadonlySet<string>;
}

/** Nobody knows when a server changes what it offers, unless the client listens. */
const HINTS = { ttlMs: 0, cacheScope: 'private' } as const;

/** What the tool servers of the agent offer, for MCP clients. Each request is passed on to the server that it is for. */
export function forwardedSurface(deps: ForwardedSurfaceDeps, kinds: ReadonlySet<ForwardedKind>): McpSurface {
  const offers = new Offers(deps.bus, deps.reserved);
  const requests = new RequestForwarder(deps);
  const watches = new ResourceWatches({ ...deps, offers });
  const list = async (kind: OfferKind, call: McpCall): Promise<McpObject> => ({
    [FIELDS[kind]]: await offers.list(kind, call.context),
    ...HINTS,
  });
  return {
    capabilities: capabilitiesOf(kinds),
    ...(kinds.has('tools') && {
      listTools: (_, call) => list('tools', call),
      callTool: async (params, call) => requests.pass(await offers.toolCall(params, call.context), call),
    }),
    ...(kinds.has('resources') && {
      listResources: (_, call) => list('resources', call),
      listTemplates: (_, call) => list('templates', call),
      readResource: (params, call) => readResource({ offers, requests }, params, call),
      watch: ({ uri }, { context }) => watches.watch(uri, context),
    }),
    ...(kinds.has('prompts') && {
      listPrompts: (_, call) => list('prompts', call),
      getPrompt: async (params, call) => requests.pass(await getPrompt(offers, params, call), call),
    }),
    ...((kinds.has('prompts') || kinds.has('resources')) && {
      complete: async (params, call) =>
        requests.pass(await completionFor(offers, params, call.context), call),
    }),
    onChange: (listener, context) => ifAllowed(() => onOfferChange({ ...deps, watches }, listener, context)),
  };
}

const FIELDS: Readonly<Record<OfferKind, string>> = {
  tools: 'tools',
  resources: 'resources',
  templates: 'resourceTemplates',
  prompts: 'prompts',
};

function capabilitiesOf(kinds: ReadonlySet<ForwardedKind>): McpObject {
  return {
    ...(kinds.has('tools') && { tools: { listChanged: true } }),
    ...(kinds.has('resources') && { resources: { listChanged: true, subscribe: true } }),
    ...(kinds.has('prompts') && { prompts: { listChanged: true } }),
    ...((kinds.has('prompts') || kinds.has('resources')) && { completions: {} }),
  };
}

async function getPrompt(offers: Offers, params: NamedParams, { context }: McpCall) {
  const { serverId, name } = await offers.promptNamed(params.name, context);
  return { serverId, method: 'prompts/get' as const, params: { ...params, name } };
}

/** Asks the servers that list the resource, or have a template for it; if none does, each that has resources at all. */
async function readResource(
  { offers, requests }: { readonly offers: Offers; readonly requests: RequestForwarder },
  params: UriParams,
  call: McpCall,
): Promise<McpObject> {
  const servers = await offers.serversOf(params.uri, call.context);
  return firstToAccept(servers, params.uri, ({ serverId, uri }) =>
    requests.pass({ serverId, method: 'resources/read', params: { ...params, uri } }, call),
  );
}

function onOfferChange(
  { bus, watches }: Pick<ForwardedSurfaceDeps, 'bus'> & { readonly watches: ResourceWatches },
  listener: (change: McpChange) => void,
  context: RequestContext,
): Unsubscribe {
  return bus.onOfferChange((change) => {
    if (change.kind !== 'resource') return listener({ kind: `${change.kind}_list_changed` });
    for (const uri of watches.addressesOf(change)) listener({ kind: 'resource_updated', uri });
  }, context);
}
