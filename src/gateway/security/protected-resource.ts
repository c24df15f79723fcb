import type { Scope } from '../../core/access/scopes.ts';
import type { ProtectedResourceMetadata } from '../../wire/protected-resource-metadata.ts';
import { MCP_PATH } from '../mcp/mcp-path.ts';
import { badHost } from './origin-policy.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** What a request says about the address that its client used. */
export interface RequestOrigin {
  /** The `Host` header. */
  readonly host: string | undefined;
  /** The `X-Forwarded-Proto` header. */
  readonly forwardedProto: string | undefined;
  /** Whether the request comes from a proxy of `server.trustProxy`. */
  readonly isFromTrustedProxy: boolean;
}

/** An MCP endpoint as an OAuth 2.1 protected resource. */
export interface McpResource {
  /** The public URL of the endpoint, which is its identifier and the audience of tokens. */
  readonly url: string;
  /** The public URL of its metadata. */
  readonly metadataUrl: string;
}

/** The path of the MCP endpoint of an agent. @param prefix such as `/agents/support`; absent for the first agent. */
export function mcpPath(prefix = ''): string {
  return `${prefix}${MCP_PATH}`;
}

/** The paths of this service at which clients look for the metadata of an MCP endpoint. RFC 9728, section 3.1. */
export function metadataPaths(endpoint = MCP_PATH): readonly string[] {
  return endpoint === MCP_PATH ? [`${WELL_KNOWN}${endpoint}`, WELL_KNOWN] : [`${WELL_KNOWN}${endpoint}`];
}

/**
 * The public URL of the service, without a slash at its end.
 *
 * @param configured `auth.resource`: the public URL of `/mcp`. The request does not matter then.
 */
export function publicBase(configured: string | undefined, request: RequestOrigin): string {
  if (configured !== undefined) return configured.slice(0, -MCP_PATH.length);
  const { host, forwardedProto, isFromTrustedProxy } = request;
  // With several proxies, the first one has written the first value: the one that the client spoke to.
  const forwarded = isFromTrustedProxy ? forwardedProto?.split(',')[0]?.trim().toLowerCase() : undefined;
  const base = `${forwarded === 'https' ? 'https' : 'http'}://${host}`;
  if (host === undefined || !isOrigin(base)) {
    const issue =
      host === undefined ? 'the header is missing' : 'the header is no host name with an optional port';
    throw badHost(issue);
  }
  return new URL(base).origin;
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^/\\?#@\s]+$/.test(text) && URL.canParse(text);
}

/** @param endpoint the path of the MCP endpoint within the service. */
export function mcpResource(base: string, endpoint = MCP_PATH): McpResource {
  // Behind a proxy that adds a path, the metadata stay within that path, where the proxy finds the service.
  return { url: `${base}${endpoint}`, metadataUrl: `${base}${WELL_KNOWN}${endpoint}` };
}

export interface ResourceDescription {
  /** The issuers of `auth.jwt`. */
  readonly issuers: readonly string[];
  /** Scopes that clients may ask an issuer for. */
  readonly scopes: readonly Scope[];
  /** For people. */
  readonly name: string;
}

/** The metadata document of RFC 9728, which leaves out empty lists. */
export function resourceMetadata(
  { url }: McpResource,
  { issuers, scopes, name }: ResourceDescription,
): ProtectedResourceMetadata {
  return {
    resource: url,
    ...(issuers.length > 0 && { authorization_servers: [...issuers] }),
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    bearer_methods_supported: ['header'],
    resource_name: name,
  };
}
