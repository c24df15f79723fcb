import { z } from 'zod';
import { fetchJson, type ProviderEndpoint, ProviderStatusError } from './provider-json.ts';

const Metadata = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/**
 * Where the metadata of an issuer may be: OpenID Connect Discovery puts the well-known path behind the issuer's path,
 * RFC 8414 in front of it.
 */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/oauth-authorization-server`,
  ];
  return [...new Set(urls)];
}

/** Where the keys of an issuer are, as its metadata say. Rejects if there are none, or if they belong to another issuer. */
export async function discoverJwksUri(issuer: string, access: ProviderEndpoint): Promise<string> {
  const urls = metadataUrls(issuer);
  for (const url of urls) {
    const found = await metadataAt(url, access);
    if (found === undefined) continue;
    const { issuer: named, jwks_uri } = Metadata.parse(found);
    // Otherwise one issuer could pass off its keys as those of another.
    if (named !== issuer)
      throw new Error(
        `${url} is the metadata of "${named}"; set auth.jwt.issuer to exactly that, or correct it`,
      );
    if (new URL(jwks_uri).protocol !== 'https:' && new URL(issuer).protocol === 'https:')
      throw new Error(`${url} names keys without TLS: ${jwks_uri}`);
    return jwks_uri;
  }
  throw new Error(`no metadata at ${urls.join(', ')}; set auth.jwt.jwksUri`);
}

/** Answers that say: there is no such document here. Not 429, which means: later. */
function isAbsence({ status }: ProviderStatusError): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Undefined if the provider has no such document. */
async function metadataAt(url: string, access: ProviderEndpoint): Promise<unknown> {
  try {
    return await fetchJson(url, access);
  } catch (error) {
    if (error instanceof ProviderStatusError && isAbsence(error)) return undefined;
    throw error;
  }
}
