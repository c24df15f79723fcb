import { isJsonObject, type JsonObject } from '../../core/json-object.ts';
import { messageOf } from '../../core/thrown.ts';
import type { OfferKind, ServerFeatures, ServerOffer } from '../../core/tool-server/forwarded-request.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';
import { within } from '../../timing/deadline.ts';

/** The longest wait for one server: those that answer are worth more than the one that does not. */
const LIST_MS = 10_000;
const MAX_PAGES = 1_000;

/** How MCP lists a kind: its method, where the result has the items, and the capability of a server that has them. */
const LISTS: Readonly<Record<OfferKind, readonly [method: string, field: string, capability: string]>> = {
  tools: ['tools/list', 'tools', 'tools'],
  resources: ['resources/list', 'resources', 'resources'],
  templates: ['resources/templates/list', 'resourceTemplates', 'resources'],
  prompts: ['prompts/list', 'prompts', 'prompts'],
};

export interface Connected {
  readonly serverId: string;
  readonly connection: ToolServerConnection;
}

/** What the servers say of themselves. */
export function featuresOf(servers: readonly Connected[]): ServerFeatures[] {
  return servers.map(({ serverId, connection: { capabilities } }) => ({ serverId, capabilities }));
}

/** Asks all servers at the same time. One that has none of the kind, or does not answer in time, is left out. */
export async function offersOf(
  servers: readonly Connected[],
  kind: OfferKind,
  log: Logger,
): Promise<ServerOffer[]> {
  const [, , capability] = LISTS[kind];
  const having = servers.filter(({ connection }) => connection.capabilities[capability] !== undefined);
  const offers = await Promise.all(having.map((server) => offerOf(server, kind, log)));
  return offers.flatMap((offer) => offer ?? []);
}

async function offerOf(
  { serverId, connection }: Connected,
  kind: OfferKind,
  log: Logger,
): Promise<ServerOffer | null> {
  const late = new AbortController();
  try {
    const items = await within(LIST_MS, itemsOf(connection, kind, late.signal), null);
    if (items) return { serverId, items };
    late.abort();
    log.warn({ server: serverId, kind }, 'a tool server did not list what it offers in time');
  } catch (error) {
    log.warn(
      { server: serverId, kind, reason: messageOf(error) },
      'a tool server could not list what it offers',
    );
  }
  return null;
}

/** All pages. Throws if they do not end. */
async function itemsOf(
  connection: ToolServerConnection,
  kind: OfferKind,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const [method, field] = LISTS[kind];
  const items: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await connection.request({ method, params }, { signal });
    for (const item of objectsIn(result[field])) items.push(item);
    cursor = result.nextCursor;
    // Some servers mark the last page with an empty cursor or null.
    if (typeof cursor !== 'string' || cursor === '') return items;
  }
  throw new Error(`the list has more than ${MAX_PAGES} pages`);
}

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
