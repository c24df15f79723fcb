import { discoverOAuthProtectedResourceMetadata } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthProtectedResourceMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { checkResourceAllowed } from '@modelcontextprotocol/sdk/shared/auth-utils.js';
import { AuthorizationError } from './authorization-error.ts';
import type { Challenge } from './challenge.ts';
import { issuerName } from './issuer-name.ts';
import { type Fetch, type ServerMetadata, serverMetadata } from './server-metadata.ts';

/** Who gives tokens for a tool server, and what they must say. */
export interface AuthorizationSite {
  /** Identifies the authorization server. Credentials are kept under it. */
  readonly issuer: string;
  /** The issuer as the server's own metadata has it, which `iss` must repeat to the letter. */
  readonly declaredIssuer: string;
  /** Where requests go if there is no metadata. */
  readonly url: string;
  /** Undefined for servers of MCP 2025-03-26, whose endpoints have fixed paths. */
  readonly metadata: ServerMetadata | undefined;
  /** The resource indicator (RFC 8707). */
  readonly resource: string;
  /** The scopes that the tool server's metadata lists. */
  readonly scopes: readonly string[];
  /** Whether the tool server takes tokens that are bound to a key. */
  readonly takesProofs: boolean;
}

export interface DiscoveryRequest {
  readonly baseUrl: string;
  readonly challenge: Challenge | null;
  /** Where the last challenge said that the tool server's metadata is, for when there is none now. */
  readonly resourceMetadata: string | undefined;
  /** Asked for if the tool server names several. */
  readonly prefers: (issuer: string) => boolean;
  /** From the configuration: no other one is used. */
  readonly issuer: string | undefined;
  readonly fetch: Fetch;
}

/**
 * Finds the authorization server as RFC 9728 and RFC 8414 say. Rejects if what is found contradicts itself.
 * @returns null if nothing says that the server knows OAuth: neither its metadata nor its challenge.
 */
export async function discover(request: DiscoveryRequest): Promise<AuthorizationSite | null> {
  const { baseUrl, challenge, fetch } = request;
  const protectedResource = await resourceMetadata(request);
  if (protectedResource === undefined && challenge !== null && challenge.scheme === null) return null;
  const resource = protectedResource?.resource ?? canonical(baseUrl);
  if (!checkResourceAllowed({ requestedResource: canonical(baseUrl), configuredResource: resource })) {
    throw new AuthorizationError(
      `the tool server's metadata is about another resource, ${resource}; nothing was sent there`,
    );
  }
  const url = chooseServer(protectedResource?.authorization_servers ?? [new URL(baseUrl).origin], request);
  const metadata = await serverMetadata(url, fetch);
  if (metadata === undefined && protectedResource !== undefined)
    throw new AuthorizationError(`the authorization server ${url} has no metadata`);
  if (metadata !== undefined && !isIssuer(metadata.issuer, url, protectedResource !== undefined)) {
    throw new AuthorizationError(
      `the metadata of the authorization server ${url} names another issuer, ${metadata.issuer}`,
    );
  }
  return {
    issuer: issuerName(url),
    declaredIssuer: metadata?.issuer ?? url,
    url,
    metadata,
    resource,
    scopes: protectedResource?.scopes_supported ?? [],
    takesProofs:
      challenge?.scheme === 'DPoP' || protectedResource?.dpop_bound_access_tokens_required === true,
  };
}

/** Undefined if the tool server has none, as in MCP 2025-03-26. If the server names its metadata, it must be there. */
async function resourceMetadata({
  baseUrl,
  challenge,
  resourceMetadata: known,
  fetch,
}: DiscoveryRequest): Promise<OAuthProtectedResourceMetadata | undefined> {
  const resourceMetadataUrl = challenge === null ? known : challenge.resourceMetadata;
  const found = discoverOAuthProtectedResourceMetadata(
    baseUrl,
    resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
    fetch,
  );
  // The SDK tells a missing document from a broken one only by its text.
  return resourceMetadataUrl === undefined ? found.catch(() => undefined) : found;
}

/** A tool server without metadata of its own has not named an issuer: its origin is all that is known of it. */
function isIssuer(declared: string, url: string, isNamed: boolean): boolean {
  if (isNamed) return issuerName(declared) === issuerName(url);
  return URL.canParse(declared) && new URL(declared).origin === new URL(url).origin;
}

function chooseServer(offered: readonly string[], { issuer, prefers }: DiscoveryRequest): string {
  const [first] = offered;
  if (first === undefined) throw new AuthorizationError('the tool server names no authorization server');
  if (issuer === undefined) return offered.find((url) => prefers(issuerName(url))) ?? first;
  const expected = offered.find((url) => issuerName(url) === issuerName(issuer));
  if (expected !== undefined) return expected;
  throw new AuthorizationError(
    `the tool server names the authorization server ${first}, but oauth.issuer expects ${issuer}`,
  );
}

/** The server's own address: no query, which may hold a key, no fragment and no user. */
function canonical(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return pathname === '/' ? origin : `${origin}${pathname}`;
}
