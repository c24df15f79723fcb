import { registerClient } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import { AuthorizationError } from './authorization-error.ts';
import type { RegisteredClient } from './credentials.ts';
import type { AuthorizationSite } from './discovery.ts';
import type { Fetch } from './server-metadata.ts';

export interface RegistrationRequest {
  readonly site: AuthorizationSite;
  readonly oauth: OAuthConfig;
  /** Of an earlier registration with this issuer. */
  readonly known: RegisteredClient | undefined;
  readonly redirectUrl: string;
  readonly scopes: readonly string[];
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The client of the configuration, its metadata document, or one that registers itself, in this order. */
export async function clientFor(request: RegistrationRequest): Promise<RegisteredClient> {
  const { site, oauth, known, redirectUrl, now } = request;
  const configured = configuredClient(oauth);
  if (configured !== undefined) return configured;
  const { clientMetadataUrl } = oauth;
  if (clientMetadataUrl !== undefined && site.metadata?.client_id_metadata_document_supported === true)
    return { client_id: clientMetadataUrl };
  const isUsable = known?.redirectUrl === redirectUrl && !((known.secretExpiresAt ?? now + 1) <= now);
  return isUsable && known !== undefined ? known : await register(request);
}

export function configuredClient({ clientId, clientSecret }: OAuthConfig): RegisteredClient | undefined {
  if (clientId === undefined) return undefined;
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}

async function register({
  site,
  redirectUrl,
  scopes,
  fetch,
}: RegistrationRequest): Promise<RegisteredClient> {
  const { metadata, url } = site;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new AuthorizationError(
      `the authorization server ${url} does not let clients register themselves: register one for ${redirectUrl}, and set oauth.clientId`,
    );
  }
  const clientMetadata = {
    client_name: 'agent-service',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
    // A browser comes back to this machine, or to a public address: servers allow other redirect URLs for each.
    application_type: isLoopback(redirectUrl) ? 'native' : 'web',
  };
  const registered = await registerClient(url, {
    ...(metadata && { metadata }),
    clientMetadata,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    fetchFn: fetch,
  });
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = registered;
  return {
    client_id,
    redirectUrl,
    // Some servers repeat the method that they were asked for, and give no secret for it.
    ...(client_secret !== undefined && { client_secret, token_endpoint_auth_method }),
    // 0 means never.
    ...(client_secret_expires_at && { secretExpiresAt: client_secret_expires_at * 1_000 }),
  };
}

/** A service can keep a secret, so it asks for one if it can get one. */
function authMethod(supported: readonly string[] | undefined): string {
  const [preferred = 'client_secret_basic'] = supported ?? [];
  return (
    ['client_secret_basic', 'client_secret_post', 'none'].find((method) => supported?.includes(method)) ??
    preferred
  );
}

function isLoopback(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}
