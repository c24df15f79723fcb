import { describe, expect, it } from 'vitest';
import { explainIssue } from '../../../src/config/problems/explain-issue.ts';
import { formatPath, toPath } from '../../../src/config/problems/path.ts';
import { AuthConfig } from '../../../src/config/schema/auth-config.ts';

const issuer = { name: 'sso', issuer: 'https://sso.example.com/realms/a', audience: 'agent' };

/** What the service prints about a file, each as `place: text`. */
function problemsOf(auth: unknown): string[] {
  const validated = { schema: AuthConfig, data: auth, writtenAt: () => undefined };
  const issues = AuthConfig.safeParse(auth).error?.issues ?? [];
  return issues
    .flatMap((issue) => explainIssue(issue, validated))
    .map(({ path, text }) => `${formatPath(toPath(path))}: ${text}`);
}

const problemsWith = (fields: Record<string, unknown>): string[] =>
  problemsOf({ jwt: [{ ...issuer, ...fields }] });

describe('auth.jwt', () => {
  it('needs a name, an issuer and an audience, and has defaults for the rest', () => {
    expect(AuthConfig.parse({ jwt: [issuer] }).jwt).toEqual([
      {
        ...issuer,
        algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
        clockSkewSeconds: 30,
        claims: { principal: 'sub', roles: 'roles' },
        defaultRoles: [],
      },
    ]);
    expect(problemsOf({ jwt: [{}] })).toEqual([
      'jwt[0].name: missing; expected a string',
      'jwt[0].issuer: missing; expected a string',
      'jwt[0].audience: missing; expected a string, or a list',
    ]);
    expect(AuthConfig.parse({}).jwt).toEqual([]);
  });

  it('takes all its settings', () => {
    const full = {
      ...issuer,
      audience: ['agent', 'https://agent.example.com/mcp'],
      jwksUri: 'https://keys.example.com/jwks?v=1',
      algorithms: ['ES256'],
      clockSkewSeconds: 0,
      claims: { principal: 'email', roles: ['https://example.com/roles'], scope: 'scope' },
      tenant: 'acme',
      roles: { 'realm admins': 'admin', staff: ['user', 'boss'] },
      defaultRoles: ['reader'],
    };
    expect(problemsOf({ roles: { boss: ['metrics:read'] }, jwt: [full] })).toEqual([]);
  });

  it.each(['none', 'HS256', 'HS512', 'A128KW', 'rs256'])('never accepts the algorithm %s', (algorithm) => {
    expect(problemsWith({ algorithms: ['RS256', algorithm] })).toEqual([
      expect.stringContaining(
        `jwt[0].algorithms[1]: found a string; expected one of RS256, RS384, RS512, PS256`,
      ),
    ]);
    expect(problemsWith({ algorithms: [] })).toHaveLength(1);
  });

  it.each([
    'http://sso.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://user:pass@127.0.0.1',
    'ftp://127.0.0.1',
    'sso.example.com',
  ])('refuses keys that anyone on the way could replace: %s', (url) => {
    const safe =
      'expected an https:// URL without user and password; http:// is accepted for a loopback address';
    expect(problemsWith({ issuer: url })[0]).toMatch(/^jwt\[0\]\.issuer: /);
    expect(problemsWith({ issuer: url })[0]).toContain(safe);
    expect(problemsWith({ jwksUri: url })[0]).toContain(safe);
  });

  it.each(['http://127.0.0.1:8080/a', 'http://localhost:1', 'http://[::1]:2/', 'https://a.example.com'])(
    'accepts %s',
    (url) => expect(problemsWith({ issuer: url, jwksUri: url })).toEqual([]),
  );

  it('refuses an issuer with a query, which no provider has', () => {
    expect(problemsWith({ issuer: 'https://a.example.com/?x=1' })).toEqual([
      'jwt[0].issuer: found a string; expected the issuer exactly as the provider writes it into "iss", which has no query and no fragment',
    ]);
  });

  it('wants a claim whose name is a URL as a list', () => {
    expect(problemsWith({ claims: { roles: 'https://example.com/roles' } })).toEqual([
      'jwt[0].claims.roles: found a string; expected keys joined by dots, such as org.id; write a key that is a URL or contains dots as a list: ["https://example.com/roles"]',
    ]);
    expect(problemsWith({ claims: { roles: 'a..b' } })).toHaveLength(1);
    expect(problemsWith({ claims: { roles: 'realm_access.roles', tenant: ['a.b', 'c'] } })).toEqual([]);
  });

  it('takes the tenant from one place', () => {
    expect(problemsWith({ tenant: 'acme', claims: { tenant: 'org' } })).toEqual([
      'jwt[0].tenant: remove tenant or claims.tenant: the tenant is either fixed, or comes from the token',
    ]);
    expect(problemsWith({ tenant: 'not a tenant' })).toHaveLength(1);
  });

  it('maps to roles that exist', () => {
    expect(problemsWith({ defaultRoles: ['Boss'] })[0]).toContain(
      'expected lower-case letters, digits and dashes',
    );
    const expected =
      'expected a role of this service: reader, user, approver, operator, admin; define further';
    expect(problemsWith({ roles: { staff: 'usr', ops: ['user', 'boss'] }, defaultRoles: ['x'] })).toEqual([
      expect.stringContaining(`jwt[0].defaultRoles[0]: found a string; ${expected}`),
      expect.stringContaining(`jwt[0].roles.staff: found a string; ${expected}`),
      expect.stringContaining(`jwt[0].roles.ops[1]: found a string; ${expected}`),
    ]);
  });

  it('tells issuers apart', () => {
    const other = { ...issuer, name: 'other', issuer: 'https://other.example.com' };
    expect(problemsOf({ jwt: [issuer, other] })).toEqual([]);
    expect(problemsOf({ jwt: [issuer, { ...other, name: 'sso' }] })).toEqual([
      'jwt[1].name: found a string; expected unique, because it tells the principals of the issuers apart',
    ]);
    expect(problemsOf({ jwt: [issuer, { ...other, issuer: issuer.issuer }] })).toEqual([
      expect.stringContaining('jwt[1].issuer: found a string; expected an issuer that no'),
    ]);
    for (const name of ['key', 'local', 'service', 'anonymous'])
      expect(problemsWith({ name })).toEqual([
        'jwt[0].name: found a string; expected another name: "key", "local", "service", "anonymous" stand for others',
      ]);
    expect(problemsWith({ name: 'SSO:' })[0]).toContain('expected 1 to 20 lower-case letters');
  });

  it('knows its keys', () => {
    expect(problemsWith({ audiences: 'x' })).toEqual([
      expect.stringContaining('jwt[0].audiences: unknown key; expected one of name, issuer, audience'),
    ]);
    expect(problemsWith({ clockSkewSeconds: 301 })).toEqual([
      'jwt[0].clockSkewSeconds: found a number; expected a number of at most 300',
    ]);
  });
});

describe('auth.resource', () => {
  it.each(['https://agent.example.com/mcp', 'http://127.0.0.1:3001/mcp', 'https://example.com/agent/mcp'])(
    'may be %s',
    (resource) => expect(problemsOf({ resource })).toEqual([]),
  );

  it.each([
    'https://agent.example.com',
    'https://agent.example.com/mcp/',
    'https://agent.example.com/mcp?x',
    'https://agent.example.com/mcp#x',
    'https://u:p@agent.example.com/mcp',
    'wss://agent.example.com/mcp',
    'agent.example.com/mcp',
  ])('may not be %s', (resource) => {
    expect(problemsOf({ resource })).toEqual([
      expect.stringContaining(
        'expected the public URL of the MCP endpoint, such as https://agent.example.com/mcp',
      ),
    ]);
  });
});
