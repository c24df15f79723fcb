import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { OAuthProtectedResourceMetadataSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import { describe, expect, it } from 'vitest';
import { requireScope } from '../../../src/core/access/require-scope.ts';
import type { Scope } from '../../../src/core/access/scopes.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { contextOf } from '../../../src/core/request/request-context.ts';
import {
  insufficientScopeChallenge,
  unauthorizedChallenge,
} from '../../../src/gateway/security/bearer-challenge.ts';
import { ProtectedMcp } from '../../../src/gateway/security/protected-mcp.ts';
import {
  mcpResource,
  metadataPaths,
  publicBase,
  type RequestOrigin,
  resourceMetadata,
} from '../../../src/gateway/security/protected-resource.ts';
import { ProtectedResourceMetadata } from '../../../src/wire/protected-resource-metadata.ts';
import { identity } from '../../support/access/known-tokens.ts';

const direct: RequestOrigin = {
  host: '127.0.0.1:3001',
  forwardedProto: undefined,
  isFromTrustedProxy: false,
};
const metadataUrl = 'https://agent.example.com/.well-known/oauth-protected-resource/mcp';

describe('the public URL of the service', () => {
  it('is the configured one, whatever a request says', () => {
    const base = publicBase('https://agent.example.com/mcp', { ...direct, host: 'mallory.example.com' });
    expect(base).toBe('https://agent.example.com');
    expect(publicBase('https://example.com/agent/mcp', direct)).toBe('https://example.com/agent');
  });

  it('is otherwise what the client has asked for', () => {
    expect(publicBase(undefined, direct)).toBe('http://127.0.0.1:3001');
    expect(publicBase(undefined, { ...direct, host: 'Agent.example.com:80' })).toBe(
      'http://agent.example.com',
    );
    expect(publicBase(undefined, { ...direct, host: '[::1]:3001' })).toBe('http://[::1]:3001');
  });

  it.each([
    ['https', true, 'https://agent.example.com'],
    ['HTTPS', true, 'https://agent.example.com'],
    ['https, http', true, 'https://agent.example.com'],
    ['http, https', true, 'http://agent.example.com'],
    ['http', true, 'http://agent.example.com'],
    ['javascript', true, 'http://agent.example.com'],
    ['https', false, 'http://agent.example.com'],
  ])('believes X-Forwarded-Proto %j of a trusted proxy: %j', (forwardedProto, isFromTrustedProxy, base) => {
    expect(publicBase(undefined, { host: 'agent.example.com', forwardedProto, isFromTrustedProxy })).toBe(
      base,
    );
  });

  it.each([undefined, '', 'a/b', 'a?b', 'a#b', 'user@a', 'a b', 'a"b<c', 'a:port', '\\a', 'a\r\nX: y'])(
    'is not made of the host %j',
    (host) => {
      expect(() => publicBase(undefined, { ...direct, host })).toThrow(ServiceError);
    },
  );
});

describe('the metadata of an MCP endpoint', () => {
  it('are at the well-known paths', () => {
    expect(metadataPaths()).toEqual([
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-protected-resource',
    ]);
    expect(metadataPaths('/agents/a/mcp')).toEqual(['/.well-known/oauth-protected-resource/agents/a/mcp']);
    expect(mcpResource('https://agent.example.com')).toEqual({
      url: 'https://agent.example.com/mcp',
      metadataUrl,
    });
    expect(mcpResource('https://example.com/x', '/agents/a/mcp')).toEqual({
      url: 'https://example.com/x/agents/a/mcp',
      metadataUrl: 'https://example.com/x/.well-known/oauth-protected-resource/agents/a/mcp',
    });
  });

  it('say how to get a token', () => {
    const document = resourceMetadata(mcpResource('https://agent.example.com'), {
      issuers: ['https://sso.example.com/realms/a'],
      scopes: ['sessions:read', 'sessions:write'],
      name: 'Files helper',
    });
    expect(document).toEqual({
      resource: 'https://agent.example.com/mcp',
      authorization_servers: ['https://sso.example.com/realms/a'],
      scopes_supported: ['sessions:read', 'sessions:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Files helper',
    });
    expect(ProtectedResourceMetadata.parse(document)).toEqual(document);
    expect(OAuthProtectedResourceMetadataSchema.parse(document)).toEqual(document);
  });

  it('have no empty list', () => {
    const nothing = { issuers: [], scopes: [], name: 'agent' };
    expect(resourceMetadata(mcpResource('https://agent.example.com'), nothing)).toEqual({
      resource: 'https://agent.example.com/mcp',
      bearer_methods_supported: ['header'],
      resource_name: 'agent',
    });
  });
});

describe('WWW-Authenticate', () => {
  const scopes = ['sessions:read', 'sessions:write'] as const;

  /** What the SDK of MCP clients reads. */
  const readBySdk = (header: string) =>
    extractWWWAuthenticateParams(new Response(null, { headers: { 'WWW-Authenticate': header } }));

  it('names metadata and scopes to who brings no token, and no error', () => {
    const header = unauthorizedChallenge({ metadataUrl, scopes });
    expect(header).toBe(`Bearer resource_metadata="${metadataUrl}", scope="sessions:read sessions:write"`);
    expect(readBySdk(header)).toEqual({
      resourceMetadataUrl: new URL(metadataUrl),
      scope: 'sessions:read sessions:write',
      error: undefined,
    });
    expect(unauthorizedChallenge({ scopes: [] })).toBe('Bearer');
  });

  it('says why a token is refused', () => {
    const header = unauthorizedChallenge({ metadataUrl, scopes }, 'The token has expired.');
    expect(header).toBe(
      `Bearer error="invalid_token", error_description="The token has expired.", resource_metadata="${metadataUrl}", scope="sessions:read sessions:write"`,
    );
    expect(readBySdk(header)).toMatchObject({
      error: 'invalid_token',
      scope: 'sessions:read sessions:write',
    });
  });

  it('names all scopes that a request needs', () => {
    const header = insufficientScopeChallenge({ metadataUrl, scopes: ['tools:execute'] });
    expect(header).toBe(
      `Bearer error="insufficient_scope", resource_metadata="${metadataUrl}", scope="tools:execute"`,
    );
    expect(readBySdk(header)).toEqual({
      resourceMetadataUrl: new URL(metadataUrl),
      scope: 'tools:execute',
      error: 'insufficient_scope',
    });
  });

  it('names all scopes that a client lacks', () => {
    const mcp = new ProtectedMcp({
      url: 'https://agent.example',
      issuers: [],
      scopes: ['sessions:read', 'servers:read', 'tools:execute'],
      isTrustedProxy: () => false,
    });
    const request = { headers: new Map(), peerAddress: '127.0.0.1', prefix: '' };
    const challengeOf = (held: Scope[]) => {
      const client = contextOf(identity('ada', { scopes: new Set(held) }));
      try {
        requireScope(client, ['servers:read', 'tools:execute']);
      } catch (error) {
        if (error instanceof ServiceError) return mcp.challenge(request, error)['WWW-Authenticate'];
      }
      return 'not refused';
    };
    expect(challengeOf([])).toContain('scope="servers:read tools:execute"');
    expect(challengeOf(['servers:read'])).toContain('scope="tools:execute"');
  });

  it('cannot be broken out of', () => {
    const header = unauthorizedChallenge({ scopes: [] }, 'a "quote", a \\, a\r\nnew: line, é and \u0000');
    expect(header).toBe(
      `Bearer error="invalid_token", error_description="a 'quote', a ?, a??new: line, ? and ?"`,
    );
  });
});
