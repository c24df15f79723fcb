import { z } from 'zod';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import { AuthorizationError } from './authorization-error.ts';
import type { Fetch } from './server-metadata.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

const Exchanged = z.object({ access_token: z.string(), issued_token_type: z.literal(ID_JAG) });

interface Purpose {
  /** The issuer that will take the assertion. */
  readonly audience: string;
  readonly resource: string;
  readonly fetch: Fetch;
}

/** Exchanges a login at the company's identity provider for an assertion (RFC 8693, as SEP-990 uses it). */
export async function identityAssertion(
  { identityProvider, scopes = [] }: OAuthConfig,
  { audience, resource, fetch }: Purpose,
): Promise<string> {
  if (identityProvider === undefined) throw new AuthorizationError('oauth.identityProvider is missing');
  const { tokenUrl, clientId, clientSecret, idToken } = identityProvider;
  const body = new URLSearchParams({
    grant_type: TOKEN_EXCHANGE,
    requested_token_type: ID_JAG,
    subject_token: idToken,
    subject_token_type: ID_TOKEN,
    audience,
    resource,
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  });
  const response = await fetch(tokenUrl, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body,
    redirect: 'manual',
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new AuthorizationError(`the identity provider refused the exchange with HTTP ${response.status}`);
  }
  return Exchanged.parse(await response.json()).access_token;
}
