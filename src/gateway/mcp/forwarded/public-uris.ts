import { percentDecoded } from '../../../core/percent-decoded.ts';

/** A resource that a tool server lists. */
export interface ListedResource {
  readonly serverId: string;
  readonly uri: string;
}

const SCHEME = 'mcp-server://';

/** The address by which MCP clients know a resource: its own if only one server lists it, and one with the server in it otherwise. */
export function publicUri({ serverId, uri }: ListedResource, isShared: boolean): string {
  return isShared ? `${SCHEME}${encodeURIComponent(serverId)}/${encodeURIComponent(uri)}` : uri;
}

/** The server that an address names, and the address by which that server knows the resource. Null if it names none. */
export function namedServer(address: string): ListedResource | null {
  if (!address.startsWith(SCHEME)) return null;
  const [serverId, uri, ...more] = address.slice(SCHEME.length).split('/').map(percentDecoded);
  return serverId && uri && more.length === 0 ? { serverId, uri } : null;
}

/** The addresses that more than one server lists. */
export function sharedUris(resources: readonly ListedResource[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { uri } of resources) (seen.has(uri) ? shared : seen).add(uri);
  return shared;
}
