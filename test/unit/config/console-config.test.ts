import { describe, expect, it } from 'vitest';
import { AuthConfig } from '../../../src/config/schema/auth-config.ts';

const issuer = 'https://sso.example.com/realms/a';
const jwt = [{ name: 'sso', issuer, audience: 'agent' }];

function problemsOf(auth: object): string[] {
  const issues = AuthConfig.safeParse(auth).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('auth.console', () => {
  it('needs an issuer and a client, and has defaults for the rest', () => {
    const clientId = 'agent-console';
    expect(AuthConfig.parse({ jwt, console: { issuer, clientId } }).console).toEqual({
      issuer,
      clientId,
      scope: 'openid',
      parameters: {},
      origins: [],
    });
    expect(problemsOf({ jwt, console: { issuer } })[0]).toMatch(/^console\.clientId: /);
  });

  it('refuses an issuer whose tokens the service does not accept, and names those that it does', () => {
    const console = { issuer: `${issuer}/`, clientId: 'c' };
    expect(problemsOf({ jwt, console })).toEqual([
      `console.issuer: must be an issuer of auth.jwt, character by character: ${issuer}`,
    ]);
    expect(problemsOf({ console })).toEqual([
      'console.issuer: must also be an issuer of auth.jwt, which is empty: add it there, with its audience',
    ]);
  });

  it.each([
    [{ parameters: { client_secret: 's' } }, /^console\.parameters\.client_secret: .*public/],
    [{ parameters: { state: 's' } }, /^console\.parameters\.state: .*itself/],
    [{ scope: 'profile' }, /^console\.scope: must contain openid/],
    [{ origins: ['https://token.example.com/path'] }, /^console\.origins\.0: must be an origin/],
    [{ origins: ['http://token.example.com'] }, /^console\.origins\.0: must be an https/],
    [{ origins: ["https://a.example.com; script-src 'unsafe-inline'"] }, /^console\.origins\.0: /],
    [{ clientSecret: 's' }, /^console: /],
  ])('refuses %j', (fields, problem) => {
    expect(problemsOf({ jwt, console: { issuer, clientId: 'c', ...fields } })[0]).toMatch(problem);
  });
});
