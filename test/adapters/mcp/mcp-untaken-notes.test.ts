import { afterEach, expect, it, vi } from 'vitest';
import type { Fetch } from '../../../src/adapters/mcp/http/http-fetch.ts';
import { StreamableTransport } from '../../../src/adapters/mcp/http/streamable-transport.ts';

afterEach(() => vi.restoreAllMocks());

/** A server that answers nothing, and the time limits that were set meanwhile. */
function silentServer() {
  const limits: AbortController[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const limit = new AbortController();
    limits.push(limit);
    return limit.signal;
  });
  const fetch: Fetch = (_url, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const url = new URL('http://tools.example/mcp');
  const transport = new StreamableTransport({ url, fetch, headers: {}, mask: (text) => text });
  return { transport, limits };
}

it.each([
  ['a notification', { method: 'notifications/cancelled', params: { requestId: 7 } }],
  ['an answer', { id: 7, result: {} }],
])('%s that a server does not take is given up', async (_, message) => {
  const { transport, limits } = silentServer();
  const sent = transport.send({ jsonrpc: '2.0', ...message });
  expect(limits).toHaveLength(1);
  limits[0]?.abort(new Error('too late'));
  await expect(sent).rejects.toThrow('too late');
});

it('a request ends with its own limit', async () => {
  const { transport, limits } = silentServer();
  const own = new AbortController();
  const sent = transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' }, { signal: own.signal });
  expect(limits).toHaveLength(0);
  own.abort(new Error('given up'));
  await expect(sent).rejects.toThrow('given up');
});
