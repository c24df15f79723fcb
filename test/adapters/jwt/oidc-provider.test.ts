import { createServer, type Server } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Provider } from 'oidc-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JwtConfig } from '../../../src/config/schema/jwt-config.ts';
import { type JwtRig, verifierRig } from '../../support/access/jwt-rig.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

const RESOURCE = 'https://agent.example.com/mcp';
const OTHER = 'https://other.example.com/mcp';
const SCOPES = 'sessions:read sessions:write tools:execute';

let server: Server;
let issuer: string;
let rig: JwtRig;

/** Issues access tokens as RFC 9068 for the resource that the client names (RFC 8707). */
function provider(url: string): Provider {
  return new Provider(url, {
    clients: [
      {
        client_id: 'ci',
        client_secret: 'not a secret in a test',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: SCOPES.split(' '),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          audience: resource,
          scope: SCOPES,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: () => ({ organization: ['acme'], realm_access: { roles: ['agent staff'] } }),
  });
}

/** A token of the client `ci`, by its credentials. */
async function accessToken(resource: string, scope = SCOPES): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('ci:not+a+secret+in+a+test').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
  });
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token;
}

beforeEach(async () => {
  server = createServer();
  await listenLocally(server);
  issuer = originOf(server);
  server.on('request', provider(issuer).callback());
  const settings = {
    name: 'oidc',
    issuer,
    audience: RESOURCE,
    claims: { tenant: 'organization', roles: 'realm_access.roles', scope: 'scope' },
    roles: { 'agent staff': 'approver' },
  };
  rig = verifierRig(JwtConfig.parse([settings]), { now: Date.now });
});

afterEach(async () => {
  if (server.listening) await closeAtOnce(server);
});

describe('an access token of oidc-provider', () => {
  it('shows who has it, with the roles and scopes that it grants', async () => {
    const token = await accessToken(RESOURCE);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    const { jti, exp = 0 } = decodeJwt(token);
    const identity = await rig.identity(token);
    expect(identity).toEqual({
      principal: 'oidc:ci',
      tenant: 'acme',
      roles: ['approver'],
      scopes: new Set([
        'sessions:read',
        'approvals:decide',
        'servers:read',
        'sessions:write',
        'tools:execute',
      ]),
      credential: `jwt:oidc:${jti}`,
      expiresAt: (exp + 30) * 1_000,
    });
    expect(rig.verifier.verify(token)).toBe(identity);
  });

  it('is refused if it is meant for another resource', async () => {
    const { code, details } = await rig.refusal(await accessToken(OTHER));
    expect([code, details]).toEqual(['UNAUTHORIZED', { reason: 'wrong audience' }]);
  });

  it('is refused if the issuer is written otherwise', async () => {
    const slash = JwtConfig.parse([{ name: 'oidc', issuer: `${issuer}/`, audience: RESOURCE }]);
    const { details } = await verifierRig(slash).refusal(await accessToken(RESOURCE));
    expect(details).toEqual({ reason: 'wrong issuer' });
  });

  it('is accepted while the provider is down, if its keys are known', async () => {
    const [first, second] = [await accessToken(RESOURCE), await accessToken(RESOURCE)];
    await rig.identity(first);
    await closeAtOnce(server);
    rig.pass(11 * 60_000);
    await expect(rig.identity(second)).resolves.toMatchObject({ principal: 'oidc:ci' });
    expect(rig.log.lines.map(({ level }) => level)).toEqual(['warn']);
  });
});
