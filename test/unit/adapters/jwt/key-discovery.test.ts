import { describe, expect, it } from 'vitest';
import { discoverJwksUri, metadataUrls } from '../../../../src/adapters/jwt/key-discovery.ts';
import { systemClock } from '../../../../src/timing/clock.ts';

const ISSUER = 'https://sso.example.com/realms/a';
const OPENID = `${ISSUER}/.well-known/openid-configuration`;
const OAUTH = 'https://sso.example.com/.well-known/oauth-authorization-server/realms/a';

/** Discovers from these documents; a number is the status of an answer without one. */
function discovery(documents: Record<string, unknown>, issuer = ISSUER): Promise<string> {
  const fetch = async (url: string): Promise<Response> => {
    const found = documents[url] ?? 404;
    return typeof found === 'number' ? new Response(null, { status: found }) : Response.json(found);
  };
  return discoverJwksUri(issuer, { fetch, clock: systemClock });
}

const metadata = { issuer: ISSUER, jwks_uri: 'https://keys.example.com/jwks' };

describe('the metadata of an issuer', () => {
  it('are looked for at the well-known paths', () => {
    expect(metadataUrls(ISSUER)).toEqual([OPENID, OAUTH, `${ISSUER}/.well-known/oauth-authorization-server`]);
    expect(metadataUrls('https://sso.example.com/')).toEqual([
      'https://sso.example.com/.well-known/openid-configuration',
      'https://sso.example.com/.well-known/oauth-authorization-server',
    ]);
  });

  it('say where the keys are', async () => {
    await expect(discovery({ [OPENID]: metadata })).resolves.toBe('https://keys.example.com/jwks');
    await expect(discovery({ [OAUTH]: metadata })).resolves.toBe('https://keys.example.com/jwks');
    await expect(discovery({ [OPENID]: 403, [OAUTH]: metadata })).resolves.toBeDefined();
  });

  it('are not replaced by others if the provider fails', async () => {
    for (const status of [429, 500])
      await expect(discovery({ [OPENID]: status, [OAUTH]: metadata })).rejects.toThrow(
        `answered with status ${status}`,
      );
  });

  it('must be those of exactly this issuer', async () => {
    const slash = { ...metadata, issuer: `${ISSUER}/` };
    await expect(discovery({ [OPENID]: slash })).rejects.toThrow(
      `${OPENID} is the metadata of "${ISSUER}/"; set auth.jwt.issuer to exactly that, or correct it`,
    );
  });

  it('must not name keys without TLS', async () => {
    const plain = { ...metadata, jwks_uri: 'http://sso.example.com/jwks' };
    await expect(discovery({ [OPENID]: plain })).rejects.toThrow('names keys without TLS');
  });

  it('are missed aloud', async () => {
    await expect(discovery({})).rejects.toThrow(/^no metadata at .*set auth\.jwt\.jwksUri$/);
    await expect(discovery({ [OPENID]: { issuer: ISSUER } })).rejects.toThrow('jwks_uri');
    await expect(discovery({ [OPENID]: { ...metadata, jwks_uri: 'file:///etc' } })).rejects.toThrow(
      'jwks_uri',
    );
  });
});
