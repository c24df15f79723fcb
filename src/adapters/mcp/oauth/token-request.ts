import { readFile } from 'node:fs/promises';
import {
  type AddClientAuthentication,
  exchangeAuthorization,
  fetchToken,
  refreshAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js';
import {
  ClientCredentialsProvider,
  createPrivateKeyJwtAuth,
} from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import { AuthorizationError } from './authorization-error.ts';
import type { RegisteredClient, Token } from './credentials.ts';
import type { AuthorizationSite } from './discovery.ts';
import { identityAssertion } from './identity-assertion.ts';
import type { Fetch } from './server-metadata.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const REFRESH_BEFORE_MS = 60_000;

/** What every request for a token is made from. */
export interface TokenRequest {
  readonly site: AuthorizationSite;
  readonly oauth: OAuthConfig;
  readonly client: RegisteredClient;
  readonly scopes: readonly string[];
  readonly fetch: Fetch;
}

export interface ReceivedCode {
  readonly code: string;
  /** Of PKCE. */
  readonly verifier: string;
  readonly redirectUrl: string;
}

export async function exchangeCode(request: TokenRequest, received: ReceivedCode): Promise<OAuthTokens> {
  return await exchangeAuthorization(request.site.url, {
    ...common(request),
    authorizationCode: received.code,
    codeVerifier: received.verifier,
    redirectUri: received.redirectUrl,
  });
}

export async function refreshToken(request: TokenRequest, refreshToken: string): Promise<OAuthTokens> {
  return await refreshAuthorization(request.site.url, { ...common(request), refreshToken });
}

/** A token by a grant that needs no person. */
export async function grantedToken(request: TokenRequest): Promise<OAuthTokens> {
  const { site, fetch } = request;
  const provider = new GrantProvider(request, await grantParameters(request));
  const { metadata, url, resource } = site;
  return await fetchToken(provider, url, {
    ...(metadata && { metadata }),
    resource,
    fetchFn: fetch,
  });
}

/** @param nowMs milliseconds since the epoch, when the request was sent. */
export function tokenOf(tokens: OAuthTokens, scopes: readonly string[], nowMs: number): Token {
  const { access_token, token_type, refresh_token, expires_in } = tokens;
  const lifetimeMs = expires_in === undefined ? undefined : expires_in * 1_000;
  return {
    accessToken: access_token,
    scheme: token_type.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer',
    scopes: [...scopes],
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(lifetimeMs !== undefined && {
      expiresAt: nowMs + lifetimeMs,
      refreshAt: nowMs + Math.max(lifetimeMs - REFRESH_BEFORE_MS, lifetimeMs / 2),
    }),
  };
}

function common({ site, oauth, client, fetch }: TokenRequest) {
  const addClientAuthentication = signedAuthentication(oauth, client);
  return {
    ...(site.metadata && { metadata: site.metadata }),
    clientInformation: information(client),
    // As text: a `URL` without a path would get a slash that the metadata has not.
    resource: site.resource,
    ...(addClientAuthentication && { addClientAuthentication }),
    fetchFn: fetch,
  };
}

function information(client: RegisteredClient): OAuthClientInformationMixed {
  const { client_id, client_secret, token_endpoint_auth_method } = client;
  return {
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
  };
}

function signedAuthentication(
  oauth: OAuthConfig,
  client: RegisteredClient,
): AddClientAuthentication | undefined {
  const { privateKey, keyAlgorithm = 'ES256' } = oauth;
  if (privateKey === undefined) return undefined;
  const { client_id: issuer } = client;
  return createPrivateKeyJwtAuth({ issuer, subject: issuer, privateKey, alg: keyAlgorithm });
}

async function grantParameters({ site, oauth, scopes, fetch }: TokenRequest): Promise<URLSearchParams> {
  const scope = scopes.length > 0 ? { scope: scopes.join(' ') } : {};
  switch (oauth.grant) {
    case 'client-credentials':
      return new URLSearchParams({ grant_type: 'client_credentials', ...scope });
    case 'jwt-bearer':
      return new URLSearchParams({ grant_type: JWT_BEARER, assertion: await workloadToken(oauth), ...scope });
    case 'identity-assertion': {
      const assertion = await identityAssertion(oauth, {
        audience: site.declaredIssuer,
        resource: site.resource,
        fetch,
      });
      return new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...scope });
    }
    case 'authorization-code':
    case undefined:
      throw new AuthorizationError('the grant authorization-code needs a person');
    default:
      return oauth.grant satisfies never;
  }
}

async function workloadToken({ jwt, jwtFile }: OAuthConfig): Promise<string> {
  if (jwtFile === undefined) return jwt ?? '';
  const text = await readFile(jwtFile, 'utf8').catch((error: unknown) => {
    throw new AuthorizationError(`oauth.jwtFile cannot be read: ${jwtFile}`, { cause: error });
  });
  return text.trim();
}

/** Makes the SDK send the parameters of any grant. */
class GrantProvider extends ClientCredentialsProvider {
  readonly #client: RegisteredClient;
  readonly #parameters: URLSearchParams;
  readonly addClientAuthentication?: AddClientAuthentication;

  constructor({ site, oauth, client }: TokenRequest, parameters: URLSearchParams) {
    super({ clientId: client.client_id, clientSecret: client.client_secret ?? '', expectedIssuer: site.url });
    this.#client = client;
    this.#parameters = parameters;
    const authentication = signedAuthentication(oauth, client);
    if (authentication) this.addClientAuthentication = authentication;
  }

  override clientInformation(): OAuthClientInformationMixed {
    return information(this.#client);
  }

  override prepareTokenRequest(): URLSearchParams {
    return this.#parameters;
  }
}
