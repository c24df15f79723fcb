import { expect, test } from 'vitest';
import { StreamableTransport } from '../../../src/adapters/mcp/http/streamable-transport.ts';
import { testConnector } from '../../support/tools/mcp/connecting.ts';
import { scriptedServer } from '../../support/tools/mcp/scripted-http-server.ts';

const stream = { 'content-type': 'text/event-stream' };

test('hears of changed tools although the first attempt to open the stream failed', async () => {
  await using server = await scriptedServer({
    listen: (res, nth) => {
      if (nth === 1) return void res.writeHead(503).end();
      res.writeHead(200, stream).write(': here\n\n');
    },
  });
  const { connect, toolsChanged, closings } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await connection.listTools();
  // What changed before the stream was open was told to nobody.
  await toolsChanged;
  expect(closings).toEqual([]);
  await connection.close();
});

/** Asks for the stream of a server that answers so, and counts how often. */
async function asked(answer: () => Response) {
  let gets = 0;
  const again = Promise.withResolvers<void>();
  const url = new URL('http://tools.example/mcp');
  const fetch = async (_url: string | URL, init?: RequestInit) => {
    if (init?.method !== 'GET') return new Response(null, { status: 202 });
    gets += 1;
    if (gets === 2) again.resolve();
    return answer();
  };
  const transport = new StreamableTransport({ url, fetch, headers: {}, mask: (text) => text });
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { gets: () => gets, again: again.promise, close: () => transport.close() };
}

test('does not ask again for a stream that the server does not offer', async () => {
  const page = () => new Response('<h1>Tools</h1>', { headers: { 'content-type': 'text/html' } });
  const none = [404, 405, 501].map((status) => () => new Response(null, { status }));
  const without = await Promise.all([page, ...none].map(asked));
  // Asked later, so the others would have been asked again before.
  const busy = await asked(() => new Response(null, { status: 503 }));
  await busy.again;
  expect(without.map(({ gets }) => gets())).toEqual([1, 1, 1, 1]);
  for (const { close } of [...without, busy]) await close();
});
