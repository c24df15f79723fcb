import { ServerError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import { AuthorizationError } from './authorization-error.ts';
import { beginVisit } from './authorization-visit.ts';
import type { Challenge } from './challenge.ts';
import { configuredClient } from './client-registration.ts';
import { type Credentials, type Issued, type ProofKey, registeredClients } from './credentials.ts';
import { type AuthorizationSite, discover } from './discovery.ts';
import { newProofKey, PROOF_ALGORITHM, provingFetch } from './dpop.ts';
import { heardEndpoint } from './heard-endpoint.ts';
import type { PendingAuthorization } from './pending-authorization.ts';
import type { Fetch } from './server-metadata.ts';
import { grantedToken, refreshToken, type TokenRequest, tokenOf } from './token-request.ts';
import { isUnattended, wantedScopes } from './wanted-scopes.ts';

export interface FlowRequest {
  readonly baseUrl: string;
  readonly oauth: OAuthConfig;
  readonly credentials: Credentials;
  /** What the server asked for; null when a token is replaced before it expires. */
  readonly challenge: Challenge | null;
  /** A person who was asked already, for all that the challenge asks for. */
  readonly awaited: PendingAuthorization | null;
  readonly fetch: Fetch;
  /** Where browsers come back to; null if this process has no page for them. */
  readonly redirectUrl: () => Promise<string | null>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The credentials after the flow, and the visit that is needed before there is a token. */
export interface FlowResult {
  readonly credentials: Credentials;
  readonly pending: PendingAuthorization | null;
}

interface Flow {
  readonly request: FlowRequest;
  readonly site: AuthorizationSite;
  readonly credentials: Credentials;
  /** What the authorization server gave before. */
  readonly issued: Issued;
  readonly scopes: readonly string[];
}

/**
 * Gets a token, with a refresh token or a grant that needs nobody, or else the address that a person must open.
 * @returns null if the server does not know OAuth: its 401 is an error like others.
 */
export async function authorize(request: FlowRequest): Promise<FlowResult | null> {
  const { baseUrl, oauth, challenge, awaited, fetch } = request;
  const { issuer: preferred, resourceMetadata } = request.credentials;
  const prefers = (issuer: string): boolean => issuer === preferred;
  const site = await discover({ baseUrl, challenge, resourceMetadata, prefers, issuer: oauth.issuer, fetch });
  if (site === null) return null;
  const credentials = {
    ...boundTo(site, request),
    resourceMetadata: challenge === null ? resourceMetadata : challenge.resourceMetadata?.href,
  };
  const issued = credentials.byIssuer[site.issuer] ?? {};
  const scopes = wantedScopes({ oauth, challenge, site, token: issued.token });
  const flow: Flow = { request, site, credentials, issued, scopes };
  // A refreshed token has no more scopes than its predecessor.
  const left = challenge?.status === 403 ? issued : await refreshed(flow);
  if (challenge?.status !== 403 && left.token !== undefined)
    return { credentials: replaced(flow, left), pending: null };
  // Nobody is asked as long as the present token may still work.
  if (challenge === null && !isUnattended(oauth)) return { credentials: request.credentials, pending: null };
  const next = { ...flow, issued: left };
  if (isUnattended(oauth)) return await granted(next);
  if (awaited !== null) return { credentials: replaced(next, left), pending: awaited };
  return await visited(next).catch((error: unknown) => {
    // Without metadata, the endpoints were guessed, and there are none.
    if (site.metadata === undefined && error instanceof ServerError) return null;
    throw error;
  });
}

/** The client of the configuration stays with one issuer, or a tool server could have its secret sent anywhere. */
function boundTo(site: AuthorizationSite, { oauth, credentials }: FlowRequest): Credentials {
  if (oauth.clientId === undefined || oauth.issuer !== undefined) return credentials;
  const { clientIssuer = site.issuer } = credentials;
  if (clientIssuer === site.issuer) return { ...credentials, clientIssuer };
  throw new AuthorizationError(
    `the tool server now names the authorization server ${site.url}, but oauth.clientId belongs to ${clientIssuer}: if the change is right, set oauth.issuer`,
  );
}

/**
 * @returns what the authorization server gave, with the new token. Without a token if there was none to refresh, or if
 * the server refuses. Rejects if it does not answer, or cannot for now: the refresh token may still be good.
 */
async function refreshed(flow: Flow): Promise<Issued> {
  const { token, ...rest } = flow.issued;
  const client = configuredClient(flow.request.oauth) ?? rest.client;
  if (client === undefined || token?.refreshToken === undefined) return rest;
  const sentAt = flow.request.now();
  const request = tokenRequest(flow, client, rest.proofKey);
  const { fetch, refusal } = heardEndpoint(request.fetch);
  try {
    const tokens = await refreshToken({ ...request, fetch }, token.refreshToken);
    return { ...rest, token: tokenOf(tokens, token.scopes, sentAt) };
  } catch (error) {
    const code = refusal();
    if (code === undefined) throw error;
    return code === 'invalid_client' ? {} : rest;
  }
}

async function granted(flow: Flow): Promise<FlowResult> {
  const client = configuredClient(flow.request.oauth);
  if (client === undefined) throw new AuthorizationError('oauth.clientId is missing');
  const proofKey = await proofKeyFor(flow);
  const sentAt = flow.request.now();
  const tokens = await grantedToken(tokenRequest(flow, client, proofKey));
  const token = tokenOf(tokens, flow.scopes, sentAt);
  return { credentials: replaced(flow, { token, ...(proofKey && { proofKey }) }), pending: null };
}

async function visited(flow: Flow): Promise<FlowResult> {
  const { request, site, scopes, issued } = flow;
  const { oauth, fetch, now } = request;
  const redirectUrl = await request.redirectUrl();
  const proofKey = await proofKeyFor(flow);
  const known = issued.client;
  const pending = await beginVisit({ site, oauth, scopes, redirectUrl, known, proofKey, fetch, now: now() });
  // A client that registered itself is kept at once: there need be only one, however often nobody follows the address.
  const isRegistered = pending.client.redirectUrl !== undefined;
  const kept = { ...issued, ...(isRegistered && { client: pending.client }) };
  return { credentials: replaced(flow, kept), pending };
}

/** A key if both servers can bind tokens to one. It stays the same, because refresh tokens may be bound to it, too. */
async function proofKeyFor({ site, issued }: Flow): Promise<ProofKey | undefined> {
  const { metadata, takesProofs } = site;
  if (!takesProofs || !metadata?.dpop_signing_alg_values_supported?.includes(PROOF_ALGORITHM))
    return undefined;
  return issued.proofKey ?? (await newProofKey());
}

function tokenRequest(
  { request: { oauth, fetch }, site, scopes }: Flow,
  client: TokenRequest['client'],
  proofKey: ProofKey | undefined,
): TokenRequest {
  return { site, oauth, client, scopes, fetch: proofKey ? provingFetch(proofKey, fetch) : fetch };
}

/** Another issuer's token is of no use any more. Its client is, should the tool server return to it. */
function replaced({ credentials, site }: Flow, issued: Issued): Credentials {
  const byIssuer = registeredClients(credentials.byIssuer);
  return { ...credentials, issuer: site.issuer, byIssuer: { ...byIssuer, [site.issuer]: issued } };
}
