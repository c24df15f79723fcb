import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, it, vi } from 'vitest';
import { StreamableTransport } from '../../../src/adapters/mcp/http/streamable-transport.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: vi.fn(async () => undefined) }));

beforeEach(() => vi.mocked(pause).mockClear());

/** A server that breaks the stream of a request off after `retry`, and does not offer the rest. */
async function waitBeforeReopening(retry: string): Promise<unknown> {
  const fetch = async (_url: unknown, { method = '' }: RequestInit = {}): Promise<Response> => {
    if (method === 'GET') return new Response(null, { status: 405 });
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`${retry}id: 1\ndata:\n\n`, { headers });
  };
  const transport = new StreamableTransport({
    url: new URL('http://tools.example/mcp'),
    fetch,
    headers: {},
    mask: (text) => text,
  });
  const lost = Promise.withResolvers<unknown>();
  transport.onlost = lost.resolve;
  await transport.send({ jsonrpc: '2.0', id: 7, method: 'tools/list' });
  expect(await lost.promise).toBe(7);
  return vi.mocked(pause).mock.calls[0]?.[0];
}

it.each([
  ['', 1_000],
  ['retry: 2500\n', 2_500],
  // A timer of Node.js that should wait longer than it can waits one millisecond.
  ['retry: 99999999999999\n', 2 ** 31 - 1],
  ['retry: 0\n', 100],
])('after %j, a stream is opened again in %i ms', async (retry, ms) => {
  expect(await waitBeforeReopening(retry)).toBe(ms);
});
