import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/core/access/scopes.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { TRANSLATIONS } from '../../../src/runtime/access/translated-requests.ts';

const details = { authorizationUrl: 'https://login.example.com/authorize' };
const server = { id: 'a', name: 'a', status: 'error', type: 'http', error: 'e' } as const;

function seenWith(...scopes: Scope[]): unknown {
  const rights = { scopes: new Set(scopes), roles: [], credential: 'key-1' };
  return TRANSLATIONS['mcp-server.list']?.outward?.([{ ...server, details }], { ...ANYONE, rights });
}

describe('the address at which a tool server is authorized', () => {
  it('is shown only to who may connect servers', () => {
    expect(seenWith('servers:read', 'servers:write')).toEqual([{ ...server, details }]);
    expect(seenWith('servers:read')).toEqual([server]);
  });
});
