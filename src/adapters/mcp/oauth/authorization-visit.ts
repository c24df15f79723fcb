import { randomBytes } from 'node:crypto';
import { startAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import type { AuthorizationResponse } from '../../../ports/server-authorization.ts';
import { AuthorizationError } from './authorization-error.ts';
import { clientFor } from './client-registration.ts';
import type { Credentials, ProofKey, RegisteredClient } from './credentials.ts';
import type { AuthorizationSite } from './discovery.ts';
import { provingFetch } from './dpop.ts';
import type { PendingAuthorization } from './pending-authorization.ts';
import type { Fetch } from './server-metadata.ts';
import { exchangeCode, tokenOf } from './token-request.ts';

/** How long a person may take. */
const PENDING_MS = 10 * 60_000;
const STATE_BYTES = 32;

export interface VisitRequest {
  readonly site: AuthorizationSite;
  readonly oauth: OAuthConfig;
  readonly scopes: readonly string[];
  readonly redirectUrl: string | null;
  /** Of an earlier registration with this issuer. */
  readonly known: RegisteredClient | undefined;
  readonly proofKey: ProofKey | undefined;
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Makes the address that a person must open, for the grant with a code and PKCE. */
export async function beginVisit(request: VisitRequest): Promise<PendingAuthorization> {
  const { site, scopes, redirectUrl, proofKey, now } = request;
  if (redirectUrl === null) {
    throw new AuthorizationError(
      'the server needs the authorization of a person, whom only a service in web mode can ask; or set oauth.grant to client-credentials',
    );
  }
  requirePkce(site);
  const client = await clientFor({ ...request, redirectUrl });
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const { authorizationUrl, codeVerifier: verifier } = await startAuthorization(site.url, {
    ...(site.metadata && { metadata: site.metadata }),
    clientInformation: client,
    redirectUrl,
    state,
    resource: site.resource,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  });
  // A browser opens it: other schemes could run scripts or programs.
  if (!/^https?:$/.test(authorizationUrl.protocol))
    throw new AuthorizationError('the authorization endpoint is no http:// or https:// address');
  const { href: url } = authorizationUrl;
  return { url, state, site, client, scopes, redirectUrl, verifier, proofKey, expiresAt: now + PENDING_MS };
}

export interface VisitEnd {
  readonly pending: PendingAuthorization;
  readonly response: AuthorizationResponse;
  readonly oauth: OAuthConfig;
  readonly credentials: Credentials;
  readonly fetch: Fetch;
  readonly now: number;
}

/** Gets the token after the visit. Rejects if the answer is not the one of the right server. */
export async function endVisit({ pending, response, ...rest }: VisitEnd): Promise<Credentials> {
  const { oauth, credentials, fetch, now } = rest;
  const { site, client, scopes, proofKey, verifier, redirectUrl } = pending;
  checkIssuer(site, response.iss);
  const { code, error } = response;
  if (error !== undefined || code === undefined) throw new AuthorizationError(refusal(error));
  const request = { site, oauth, client, scopes, fetch: proofKey ? provingFetch(proofKey, fetch) : fetch };
  const token = tokenOf(await exchangeCode(request, { code, verifier, redirectUrl }), scopes, now);
  const isRegistered = client.redirectUrl !== undefined;
  const issued = { ...(isRegistered && { client }), token, ...(proofKey && { proofKey }) };
  return {
    ...credentials,
    issuer: site.issuer,
    byIssuer: { ...credentials.byIssuer, [site.issuer]: issued },
  };
}

/** MCP requires it. A server without any metadata is older than that. */
function requirePkce({ metadata, url }: AuthorizationSite): void {
  if (metadata === undefined || metadata.code_challenge_methods_supported?.includes('S256')) return;
  throw new AuthorizationError(
    `the metadata of the authorization server ${url} does not say that it supports PKCE (code_challenge_methods_supported with S256), which MCP requires`,
  );
}

/** RFC 9207: compared as it is, since two spellings may be two servers. Also for errors, which others could send. */
function checkIssuer({ metadata, declaredIssuer }: AuthorizationSite, iss: string | undefined): void {
  if (iss === declaredIssuer) return;
  if (iss !== undefined)
    throw new AuthorizationError(
      'the answer came from another authorization server than the one that was asked',
    );
  if (metadata?.authorization_response_iss_parameter_supported === true) {
    throw new AuthorizationError(
      'the answer does not say which authorization server sent it, although this one always does',
    );
  }
}

function refusal(error: string | undefined): string {
  if (error === 'access_denied') return 'the authorization was denied';
  // The answer comes from a browser: only what looks like a code is repeated.
  const code = error !== undefined && /^[\w-]{1,64}$/.test(error) ? error : undefined;
  return code === undefined ? 'the answer has no code' : `the authorization server refused with ${code}`;
}
