import { expect, it } from 'vitest';
import { olderResult } from '../../../../src/gateway/mcp/older-result.ts';

const content = [{ type: 'text', text: 'hi' }];

it.each([[[1]], [0], [null]])('a client of the older era gets %j in an object', (value) => {
  expect(olderResult({ content, structuredContent: value })).toEqual({
    content,
    structuredContent: { result: value },
  });
});

it('a client of the older era gets an object as it is, or none, and no fields of the newer era', () => {
  const newer = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  expect(olderResult({ ...newer, content, structuredContent: { sum: 3 } })).toEqual({
    content,
    structuredContent: { sum: 3 },
  });
  expect(olderResult({ ...newer, content })).toEqual({ content });
});
