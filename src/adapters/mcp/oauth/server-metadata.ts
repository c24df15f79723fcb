import { buildDiscoveryUrls } from '@modelcontextprotocol/sdk/client/auth.js';
import { OAuthMetadataSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { AuthorizationError } from './authorization-error.ts';

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Of an authorization server. The SDK drops the last two from documents of OpenID Connect. */
const ServerMetadata = OAuthMetadataSchema.extend({
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  dpop_signing_alg_values_supported: z.array(z.string()).optional(),
});
export type ServerMetadata = z.infer<typeof ServerMetadata>;

/** Asks at the addresses of RFC 8414 and OpenID Connect, in this order. @returns undefined if there is none. */
export async function serverMetadata(url: string, fetch: Fetch): Promise<ServerMetadata | undefined> {
  for (const { url: address } of buildDiscoveryUrls(url)) {
    const response = await fetch(address, { headers: { Accept: 'application/json' } });
    if (response.ok) return ServerMetadata.parse(await response.json());
    await response.body?.cancel();
    if (response.status >= 500)
      throw new AuthorizationError(
        `the authorization server ${url} answered HTTP ${response.status} to the question for its metadata`,
      );
  }
  return undefined;
}
