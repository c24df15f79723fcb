import { describe, expect, it } from 'vitest';
import { exportAgentYaml } from '../../../src/config/export/export-agent.ts';
import { OAuthConfig } from '../../../src/core/tool-server/oauth-config.ts';

const problems = (oauth: unknown): string[] =>
  (OAuthConfig.safeParse(oauth).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  );

const identityProvider = { tokenUrl: 'https://idp.example/token', clientId: 'a', idToken: 'eyJ-secret' };

describe('the OAuth settings of a tool server', () => {
  it('need nothing', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ grant: 'client-credentials', clientId: 'a', privateKey: 'pem' })).toEqual([]);
    expect(problems({ grant: 'jwt-bearer', clientId: 'a', jwtFile: '/token' })).toEqual([]);
    expect(problems({ grant: 'identity-assertion', clientId: 'a', identityProvider })).toEqual([]);
  });

  it('name what a grant lacks', () => {
    expect(problems({ grant: 'client-credentials' })).toEqual([
      'clientId is missing: the grant client-credentials needs the id of a registered client',
      'clientSecret is missing: the grant client-credentials needs clientSecret or privateKey',
    ]);
    expect(problems({ grant: 'jwt-bearer', clientId: 'a' })).toEqual([
      'jwt is missing: the grant jwt-bearer needs jwt or jwtFile',
    ]);
    expect(problems({ grant: 'identity-assertion', clientId: 'a' })).toEqual([
      'identityProvider is missing: the grant identity-assertion needs the login at the identity provider',
    ]);
    expect(problems({ clientSecret: 's' })).toEqual(['clientSecret needs the clientId that it belongs to']);
  });

  it('refuse addresses and scopes that cannot be meant', () => {
    expect(problems({ clientMetadataUrl: 'http://a.example/client' })).toEqual([
      'clientMetadataUrl must be an https:// URL',
    ]);
    expect(problems({ clientMetadataUrl: 'https://a.example' })).toEqual([
      'clientMetadataUrl must have a path: the document has an address of its own',
    ]);
    expect(problems({ scopes: ['read write'] })).toEqual(['scopes.0 must be one scope without spaces']);
    expect(problems({ grant: 'password' })).toHaveLength(1);
  });

  it('are exported without their secrets', () => {
    const config = {
      type: 'http' as const,
      baseUrl: 'https://tools.example/mcp',
      oauth: {
        grant: 'identity-assertion' as const,
        clientId: 'agent',
        clientSecret: 'sekrit-1',
        privateKey: 'sekrit-2',
        jwt: 'sekrit-3',
        jwtFile: '/run/token',
        scopes: ['read'],
        identityProvider: { ...identityProvider, clientSecret: 'sekrit-4' },
      },
    };
    const yaml = exportAgentYaml({}, { removed: new Set(), added: { tools: config } });
    expect(yaml).not.toMatch(/sekrit|eyJ-secret/);
    for (const kept of ['clientId: agent', '/run/token', 'https://idp.example/token', 'read'])
      expect(yaml).toContain(kept);
  });
});
