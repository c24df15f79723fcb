import type { JWTPayload } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { JwtConfig, type JwtIssuerConfig } from '../../../../src/config/schema/jwt-config.ts';
import type { Identity } from '../../../../src/core/access/identity.ts';
import { ROLES, Scope } from '../../../../src/core/access/scopes.ts';
import type { ErrorBody } from '../../../../src/core/errors.ts';
import { jwtRig, verifierRig } from '../../../support/access/jwt-rig.ts';
import { SigningIssuer, signingKey, TEST_TIME } from '../../../support/access/signing-issuer.ts';

type Settings = Partial<z.input<typeof JwtIssuerConfig>>;

let issuer: SigningIssuer;

beforeAll(async () => {
  issuer = new SigningIssuer('https://sso.example.com', [await signingKey('k1', 'ES256')]);
});

const identity = async (claims: object, settings: Settings = {}): Promise<Identity> =>
  jwtRig(issuer, settings).identity(await issuer.token(claims as JWTPayload));
const refusal = async (claims: object, settings: Settings = {}): Promise<ErrorBody> =>
  jwtRig(issuer, settings).refusal(await issuer.token(claims as JWTPayload));

describe('the identity that a JWT shows', () => {
  it('is the subject of its issuer, in the default tenant, without roles', async () => {
    expect(await identity({ jti: 't-1' })).toEqual({
      principal: 'sso:ada',
      tenant: 'default',
      roles: [],
      scopes: new Set(),
      credential: 'jwt:sso:t-1',
      expiresAt: TEST_TIME + 330_000,
    });
  });

  it.each([8_640_000_000_001, 1e300])(
    'ends with the last date that there is, at most: exp %d',
    async (exp) => {
      const { expiresAt } = await identity({ exp });
      expect(new Date(expiresAt ?? 0).toISOString()).toBe('+275760-09-13T00:00:00.000Z');
    },
  );

  it.each([undefined, '', 5, ['t-1'], { length: 1 }, 'x'.repeat(201), 'a\nb'])(
    'names a credential without a usable id: %j',
    async (jti) => {
      expect((await identity({ jti })).credential).toMatch(/^jwt:sso:[\w-]{22}$/);
    },
  );

  it('is another for the same subject of another issuer', async () => {
    const other = new SigningIssuer('https://other.example.com', issuer.keys);
    const issuers = JwtConfig.parse([
      { name: 'sso', issuer: issuer.url, audience: 'agent', tenant: 'acme' },
      { name: 'other', issuer: other.url, audience: 'agent' },
    ]);
    const fetch = (url: string) => (url.startsWith(other.url) ? other : issuer).fetch(url);
    const rig = verifierRig(issuers, { fetch });
    const [one, two] = [await rig.identity(await issuer.token()), await rig.identity(await other.token())];
    expect([one.principal, one.tenant]).toEqual(['sso:ada', 'acme']);
    expect([two.principal, two.tenant]).toEqual(['other:ada', 'default']);
  });

  it('is accepted for any of several audiences', async () => {
    const audience = ['agent', 'https://agent.example.com/mcp'];
    expect(await identity({ aud: ['x', 'https://agent.example.com/mcp'] }, { audience })).toBeDefined();
    expect(await identity({ aud: 'agent' }, { audience })).toBeDefined();
    expect(await identity({ aud: ['x', 'agent'] })).toBeDefined();
    expect((await refusal({ aud: ['x'] }, { audience })).details.reason).toBe('wrong audience');
  });
});

describe('the principal', () => {
  it('comes from any string claim', async () => {
    expect((await identity({ email: 'ada@x.org' }, { claims: { principal: 'email' } })).principal).toBe(
      'sso:ada@x.org',
    );
    const claims = { principal: ['https://x.org/user', 'id'] };
    expect((await identity({ 'https://x.org/user': { id: '42' } }, { claims })).principal).toBe('sso:42');
    expect((await identity({ sub: 'é'.repeat(200) })).principal).toHaveLength(204);
  });

  it.each([
    ['missing claim', undefined],
    ['missing claim', null],
    ['invalid claim', ''],
    ['invalid claim', 42],
    ['invalid claim', ['ada']],
    ['invalid claim', 'x'.repeat(201)],
    ['invalid claim', 'a\u0000b'],
    ['invalid claim', 'a\nb'],
    ['invalid claim', 'a\ud800'],
  ])('is refused: %s %j', async (reason, sub) => {
    const claims = { principal: 'user.id' };
    const { code, message, details } = await refusal({ user: { id: sub } }, { claims });
    expect({ code, details }).toEqual({ code: 'UNAUTHORIZED', details: { reason, claim: 'user.id' } });
    expect(message).toContain('details.claim names it');
  });

  it.each(['__proto__', 'constructor', 'toString', 'sub.length', 'list.0'])(
    'is nothing that the token does not hold: %s',
    async (principal) => {
      const { details } = await refusal({ list: ['ada'] }, { claims: { principal } });
      expect(details).toEqual({ reason: 'missing claim', claim: principal });
    },
  );
});

describe('the tenant', () => {
  const claims = { tenant: 'org.id' };

  it('is the fixed one, or the one in the claim', async () => {
    expect((await identity({ org: { id: 'other' } }, { tenant: 'acme' })).tenant).toBe('acme');
    expect((await identity({ org: { id: 'acme' } }, { claims })).tenant).toBe('acme');
    expect((await identity({ organization: ['acme'] }, { claims: { tenant: 'organization' } })).tenant).toBe(
      'acme',
    );
  });

  it.each([
    ['missing claim', {}],
    ['missing claim', { org: {} }],
    ['missing claim', { org: 'acme' }],
    ['invalid claim', { org: { id: 'acme inc' } }],
    ['invalid claim', { org: { id: '../acme' } }],
    ['invalid claim', { org: { id: '' } }],
    ['invalid claim', { org: { id: 7 } }],
    ['invalid claim', { org: { id: ['acme', 'other'] } }],
    ['invalid claim', { org: { id: [] } }],
    ['invalid claim', { org: { id: 'x'.repeat(65) } }],
  ])('is never guessed: %s in %j', async (reason, payload) => {
    const { code, details } = await refusal(payload, { claims });
    expect({ code, details }).toEqual({ code: 'UNAUTHORIZED', details: { reason, claim: 'org.id' } });
  });
});

describe('roles', () => {
  it('are taken as the token names them, and give the scopes of those that are defined', async () => {
    const { roles, scopes } = await identity({ roles: ['reader', 'offline_access', 'reader', 'toString'] });
    expect(roles).toEqual(['reader', 'offline_access', 'toString']);
    expect(scopes).toEqual(new Set(ROLES.reader));
  });

  it('come from nested claims and are mapped, and what the map does not name is dropped', async () => {
    const settings: Settings = {
      claims: { roles: 'realm_access.roles' },
      roles: { 'agent staff': ['user', 'approver'], boss: 'admin' },
      defaultRoles: ['reader'],
    };
    const staff = await identity({ realm_access: { roles: ['agent staff', 'admin', 'toString'] } }, settings);
    expect(staff.roles).toEqual(['reader', 'user', 'approver']);
    expect(staff.scopes.has('admin')).toBe(false);
    const boss = await identity({ realm_access: { roles: ['boss'] } }, settings);
    expect(boss.scopes).toEqual(new Set(Scope.options));
    expect((await identity({}, settings)).roles).toEqual(['reader']);
    expect((await identity({ roles: ['admin'] }, settings)).roles).toEqual(['reader']);
  });

  it('may be one string, which is one role', async () => {
    expect((await identity({ roles: 'user' })).roles).toEqual(['user']);
    expect((await identity({ roles: 'not admin' })).scopes).toEqual(new Set());
  });

  it('are names', async () => {
    const names = ['', 'a\u0000b', 'x'.repeat(201), 'a\ud800'];
    expect((await identity({ roles: [...names, 'user'] })).roles).toEqual(['user']);
  });

  it.each([[5], [{ admin: true }], [['user', 5]], [true]])(
    'are refused in another form: %j',
    async (roles) => {
      expect((await refusal({ roles })).details).toEqual({ reason: 'invalid claim', claim: 'roles' });
    },
  );

  it('may be ones that the service file defines', async () => {
    const rig = jwtRig(issuer, {}, { roles: { ...ROLES, auditor: ['metrics:read'] } });
    expect((await rig.identity(await issuer.token({ roles: ['auditor'] }))).scopes).toEqual(
      new Set(['metrics:read']),
    );
  });
});

describe('scopes in the token', () => {
  const claims = { scope: 'scope' };

  it('count only where that is configured', async () => {
    expect((await identity({ scope: 'admin' })).scopes).toEqual(new Set());
  });

  it('are granted beside those of the roles', async () => {
    const scope = 'openid tools:execute sessions:write nonsense';
    const { scopes, roles } = await identity({ scope, roles: ['approver'] }, { claims });
    expect(scopes).toEqual(new Set([...(ROLES.approver ?? []), 'tools:execute', 'sessions:write']));
    expect(roles).toEqual(['approver']);
    const listed = await identity({ scp: ['metrics:read', 'profile'] }, { claims: { scope: 'scp' } });
    expect(listed.scopes).toEqual(new Set(['metrics:read']));
  });

  it('include all others with admin, and may be absent', async () => {
    expect((await identity({ scope: 'admin' }, { claims })).scopes).toEqual(new Set(Scope.options));
    expect((await identity({}, { claims })).scopes).toEqual(new Set());
    expect((await refusal({ scope: 5 }, { claims })).details.claim).toBe('scope');
  });
});
