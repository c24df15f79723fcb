import { UriTemplate } from '@modelcontextprotocol/server';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { OfferKind } from '../../../core/tool-server/forwarded-request.ts';
import type { Bus } from '../../../ports/bus.ts';
import { declares } from '../declares.ts';
import type { McpObject } from '../mcp-object.ts';
import type { NamedParams } from '../mcp-surface.ts';
import { publicNames } from './public-names.ts';
import { type ListedResource, namedServer, publicUri, sharedUris } from './public-uris.ts';
import type { RequestTo } from './request-forwarder.ts';

interface Item {
  readonly serverId: string;
  /** By which the server knows it. */
  readonly name: string;
  readonly item: McpObject;
}

/** What the tool servers offer, under the names by which MCP clients know it. Asked anew each time: nothing is kept here. */
export class Offers {
  readonly #bus: Bus;
  readonly #reserved: ReadonlySet<string>;

  /** @param reserved names of tools that no server gets. */
  constructor(bus: Bus, reserved: ReadonlySet<string>) {
    this.#bus = bus;
    this.#reserved = reserved;
  }

  async list(kind: OfferKind, context: RequestContext): Promise<McpObject[]> {
    const items = await this.#items(kind, context);
    if (kind === 'resources') return withUris(items);
    if (kind === 'templates') return items.map(({ item }) => item);
    const shown = kind === 'tools' ? await this.#callable(items, context) : items;
    return [...publicNames(shown, this.#reserved)].map(([name, { item }]) => ({ ...item, name }));
  }

  async toolCall(params: NamedParams, context: RequestContext): Promise<RequestTo> {
    const tools = await this.#bus.send('tool.callable', {}, context);
    const named = publicNames(
      tools.map(({ serverId, toolName: name }) => ({ serverId, name })),
      this.#reserved,
    ).get(params.name);
    if (!named) throw notFound('Tool', params.name);
    const { serverId, name } = named;
    return { serverId, method: 'tools/call', params: { ...params, name } };
  }

  async promptNamed(name: string, context: RequestContext): Promise<Pick<Item, 'serverId' | 'name'>> {
    const prompt = publicNames(await this.#items('prompts', context)).get(name);
    if (!prompt) throw notFound('Prompt', name);
    return prompt;
  }

  /** The servers that may have a resource, the likeliest first. */
  async serversOf(address: string, context: RequestContext): Promise<ListedResource[]> {
    const named = namedServer(address);
    if (named) return [named];
    const having = await this.#having('resources', context);
    const all = having.map((serverId) => ({ serverId, uri: address }));
    if (all.length < 2) return all;
    const [resources, templates] = await Promise.all([
      this.#items('resources', context),
      this.#items('templates', context),
    ]);
    const likely = new Set([
      ...resources.filter(({ item }) => item.uri === address).map(({ serverId }) => serverId),
      ...templates.filter(({ item }) => matches(item.uriTemplate, address)).map(({ serverId }) => serverId),
    ]);
    return likely.size === 0 ? all : all.filter(({ serverId }) => likely.has(serverId));
  }

  /** The same servers, those first that tell of changes. */
  async watchableServersOf(address: string, context: RequestContext): Promise<ListedResource[]> {
    const servers = await this.serversOf(address, context);
    if (servers.length < 2) return servers;
    const features = await this.#bus.send('mcp-server.features', {}, context);
    const telling = new Set(
      features.flatMap(({ serverId, capabilities }) =>
        declares(capabilities, 'resources', 'subscribe') ? [serverId] : [],
      ),
    );
    return servers.toSorted(
      (one, other) => Number(telling.has(other.serverId)) - Number(telling.has(one.serverId)),
    );
  }

  /** The server whose template clients complete. */
  async templateServer(template: string, context: RequestContext): Promise<string> {
    const templates = await this.#items('templates', context);
    const found = templates.find(({ item }) => item.uriTemplate === template);
    if (!found) throw notFound('Resource template', template);
    return found.serverId;
  }

  /** Tools that the approval rules deny are not shown. */
  async #callable(items: readonly Item[], context: RequestContext): Promise<Item[]> {
    const callable = await this.#bus.send('tool.callable', {}, context);
    const keys = new Set(callable.map(({ serverId, toolName }) => keyOf({ serverId, name: toolName })));
    return items.filter((item) => keys.has(keyOf(item)));
  }

  async #having(capability: string, context: RequestContext): Promise<string[]> {
    const servers = await this.#bus.send('mcp-server.features', {}, context);
    return servers.flatMap(({ serverId, capabilities }) =>
      capabilities[capability] === undefined ? [] : [serverId],
    );
  }

  async #items(kind: OfferKind, context: RequestContext): Promise<Item[]> {
    const offers = await this.#bus.send('mcp-server.offers', { kind }, context);
    return offers.flatMap(({ serverId, items }) =>
      items.flatMap((item) => (typeof item.name === 'string' ? [{ serverId, name: item.name, item }] : [])),
    );
  }
}

function withUris(items: readonly Item[]): McpObject[] {
  const listed = items.flatMap(({ serverId, item }) =>
    typeof item.uri === 'string' ? [{ serverId, uri: item.uri, item }] : [],
  );
  const shared = sharedUris(listed);
  return listed.map(({ item, ...resource }) => ({
    ...item,
    uri: publicUri(resource, shared.has(resource.uri)),
  }));
}

function matches(template: unknown, address: string): boolean {
  if (typeof template !== 'string') return false;
  try {
    return new UriTemplate(template).match(address) !== null;
  } catch {
    // The server wrote a template that is none. It has no addresses.
    return false;
  }
}

function keyOf({ serverId, name }: Pick<Item, 'serverId' | 'name'>): string {
  return JSON.stringify([serverId, name]);
}

function notFound(what: string, name: string): JsonRpcError {
  return new JsonRpcError(RPC.invalidParams, `${what} ${name} not found`, { name });
}
