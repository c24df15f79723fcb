import { expect, it } from 'vitest';
import { encodedBytes } from '../../../src/core/size-limits.ts';
import { bodyLimits } from '../../../src/gateway/http/body-limits.ts';
import type { Route } from '../../../src/gateway/http/router.ts';

const route = (path: string, more: Pick<Route, 'takesImages'> = {}): Route => ({
  method: 'POST',
  access: 'open',
  path,
  ...more,
  handler: () => expect.unreachable(),
});
const routes = [
  route('/api/reset'),
  route('/api/message-sync', { takesImages: true }),
  route('/v1/conversations/:conversation/items', { takesImages: true }),
];

it('a body that may hold an image may be longer by its base64', () => {
  const limitOf = bodyLimits(routes, 3_000);
  const message = { what: 'a message', maxBytes: 3_000, readBytes: encodedBytes(3_000) };
  expect(message.readBytes).toBeGreaterThan(4_000);
  expect(limitOf('/api/message-sync')).toEqual(message);
  expect(limitOf('/mcp')).toEqual(message);
  expect(limitOf('/v1/conversations/c/items')).toEqual(message);
  expect(limitOf('/api/reset')).toEqual({ what: 'a request', maxBytes: 3_000, readBytes: 3_000 });
  expect(limitOf('/v1/conversations/c')).toMatchObject({ what: 'a request' });
});

it('there is no limit where none is wanted', () => {
  expect(bodyLimits(routes, false)('/api/message-sync')).toBe(false);
});
