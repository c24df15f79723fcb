import { expect, it } from 'vitest';
import { AuthorizationError } from '../../../src/adapters/mcp/oauth/authorization-error.ts';
import { boundedFetch, MAX_ANSWER_BYTES } from '../../../src/adapters/mcp/oauth/bounded-fetch.ts';

const URL_OF_TOKENS = 'https://login.example/token';

it('an answer of an authorization server that never ends is read up to the limit, and given up', async () => {
  let isCancelled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
    cancel() {
      isCancelled = true;
    },
  });
  const fetch = boundedFetch(async () => new Response(endless));
  const response = await fetch(URL_OF_TOKENS);
  await expect(response.text()).rejects.toThrow(
    new AuthorizationError('https://login.example answered with more than 1 MB (1048576 bytes)'),
  );
  expect(isCancelled).toBe(true);
});

it.each([
  ['a short answer', '{"error":"invalid_grant"}', 400],
  ['an answer of the size of the limit', 'x'.repeat(MAX_ANSWER_BYTES), 200],
  ['an answer without a body', null, 204],
])('%s comes as it is', async (_which, body, status) => {
  const headers = { 'dpop-nonce': 'n1' };
  const fetch = boundedFetch(async () => new Response(body, { status, headers }));
  const response = await fetch(URL_OF_TOKENS);
  expect([response.status, response.headers.get('dpop-nonce')]).toEqual([status, 'n1']);
  expect(await response.text()).toBe(body ?? '');
});
