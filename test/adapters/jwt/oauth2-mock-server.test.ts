import { OAuth2Server } from 'oauth2-mock-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { FETCH_COOLDOWN_MS } from '../../../src/adapters/jwt/issuer-keys.ts';
import { JwtConfig, type JwtIssuerConfig } from '../../../src/config/schema/jwt-config.ts';
import { type JwtRig, verifierRig } from '../../support/access/jwt-rig.ts';

let server: OAuth2Server;

beforeEach(async () => {
  server = new OAuth2Server();
  await server.issuer.keys.generate('RS256', { kid: 'k1' });
  await server.start(0, '127.0.0.1');
});

afterEach(async () => {
  if (server.listening) await server.stop();
});

function rigWith(settings: Partial<z.input<typeof JwtIssuerConfig>> = {}): JwtRig {
  const issuer = server.issuer.url ?? '';
  return verifierRig(JwtConfig.parse([{ name: 'mock', issuer, audience: 'agent', ...settings }]), {
    now: Date.now,
  });
}

/** A token for `agent` with these claims. */
function token(claims: Record<string, unknown> = {}, kid = 'k1'): Promise<string> {
  return server.issuer.buildToken({
    kid,
    scopesOrTransform: (_, payload) => Object.assign(payload, { aud: ['agent'], sub: 'ada', ...claims }),
  });
}

describe('a token of oauth2-mock-server', () => {
  it('is verified with the keys that the metadata name', async () => {
    const rig = rigWith({ claims: { roles: ['https://example.com/roles'] } });
    const identity = await rig.identity(await token({ 'https://example.com/roles': ['user'] }));
    expect(identity).toMatchObject({ principal: 'mock:ada', tenant: 'default', roles: ['user'] });
    expect(identity.scopes).toContain('sessions:write');
  });

  it.each([
    ['ES256', 'P-256'],
    ['PS256', undefined],
    ['EdDSA', 'Ed25519'],
  ])('may be signed with %s', async (alg, crv) => {
    await server.issuer.keys.generate(alg, { kid: alg, ...(crv !== undefined && { crv }) });
    await expect(rigWith().identity(await token({}, alg))).resolves.toMatchObject({ principal: 'mock:ada' });
  });

  it('is verified after the provider has taken a new key', async () => {
    const rig = rigWith();
    await rig.identity(await token());
    await server.issuer.keys.generate('RS256', { kid: 'k2' });
    const rotated = await token({}, 'k2');
    expect((await rig.refusal(rotated)).details.reason).toBe('unknown key');
    rig.pass(FETCH_COOLDOWN_MS);
    await expect(rig.identity(rotated)).resolves.toMatchObject({ principal: 'mock:ada' });
  });

  it('is refused if another provider with the same key id has signed it', async () => {
    const other = new OAuth2Server();
    await other.issuer.keys.generate('RS256', { kid: 'k1' });
    other.issuer.url = server.issuer.url;
    const forged = await other.issuer.buildToken({
      scopesOrTransform: (_, payload) => Object.assign(payload, { aud: 'agent', sub: 'ada' }),
    });
    expect((await rigWith().refusal(forged)).details.reason).toBe('wrong signature');
  });

  it.each([
    ['expired', { exp: 1 }],
    ['not yet valid', { nbf: 4_000_000_000, exp: 4_000_000_001 }],
    ['wrong audience', { aud: 'other' }],
  ])('is refused: %s', async (reason, claims) => {
    expect(await rigWith().refusal(await token(claims))).toMatchObject({
      code: 'UNAUTHORIZED',
      details: { reason },
    });
  });

  it('cannot be verified while the provider is away', async () => {
    const rig = rigWith();
    const early = await token();
    await server.stop();
    expect(await rig.refusal(early)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { retryAfter: 10 },
    });
  });
});
