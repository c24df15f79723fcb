import { describe, expect, test } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { keyScope } from '../../../src/runtime/requests/key-scope.ts';

const scopeOf = (tenant: string, principal: string) =>
  keyScope({ ...ANYONE, tenant, principal }, 'tool.execute', 'shop', 'pay');

describe('keyScope', () => {
  test('is the client’s own', () => {
    const scopes = [
      scopeOf('acme', 'key:ci'),
      scopeOf('orbit', 'key:ci'),
      scopeOf('acme', 'key:ops'),
      keyScope(ANYONE, 'tool.execute', 'shop', 'pay'),
    ];
    expect(new Set(scopes.map((scope) => JSON.stringify(scope))).size).toBe(scopes.length);
    expect(scopeOf('acme', 'key:ci')).toEqual(scopes[0]);
  });

  test('stays without authentication as logs have it', () => {
    expect(keyScope(ANYONE, 'tool.execute', 'shop', 'pay')).toEqual(['tool.execute', 'shop', 'pay']);
  });
});
