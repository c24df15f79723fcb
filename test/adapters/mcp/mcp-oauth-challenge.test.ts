import { describe, expect, it } from 'vitest';
import { challengeOf } from '../../../src/adapters/mcp/oauth/challenge.ts';

const answer = (status: number, header?: string) =>
  challengeOf(
    new Response(null, { status, headers: header === undefined ? {} : { 'WWW-Authenticate': header } }),
  );

describe('the challenge of a tool server', () => {
  it('says scheme, scopes, error and where the metadata is', () => {
    const header =
      'Bearer realm="a, b", error="insufficient_scope", scope="read  write read", resource_metadata="https://tools.example/meta"';
    expect(answer(403, header)).toEqual({
      status: 403,
      scheme: 'Bearer',
      error: 'insufficient_scope',
      scopes: ['read', 'write'],
      resourceMetadata: new URL('https://tools.example/meta'),
    });
  });

  it('may be without quotes, without anything, or for proofs', () => {
    expect(answer(401, 'DPoP error=use_dpop_nonce')).toMatchObject({
      scheme: 'DPoP',
      error: 'use_dpop_nonce',
    });
    expect(answer(401, 'Basic realm="x", DPoP algs="ES256"')).toMatchObject({ scheme: 'DPoP' });
    expect(answer(401)).toMatchObject({ scheme: null, scopes: [], resourceMetadata: undefined });
    expect(answer(401, 'Bearer resource_metadata="no address"')).toMatchObject({
      resourceMetadata: undefined,
    });
  });

  it('is none where another token would not help', () => {
    expect(answer(403)).toBeNull();
    expect(answer(403, 'Bearer error="invalid_token"')).toBeNull();
    expect(answer(404, 'Bearer')).toBeNull();
  });
});
