import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { boundedText } from '../../../src/adapters/mcp/http/bounded-text.ts';
import { HttpStatusError } from '../../../src/adapters/mcp/http/http-status-error.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { serve } from '../../support/tools/mcp/http-servers.ts';
import { answerJson, done, scriptedServer } from '../../support/tools/mcp/scripted-http-server.ts';

const MEGABYTE = 1024 * 1024;
const LIMIT = 'the server sent a message of more than 14 MB (14680064 bytes)';

/** Writes without end until the client goes away. @returns how many bytes the client may have read. */
async function flood(res: ServerResponse, begin: string): Promise<number> {
  const gone = once(res, 'close');
  const block = 'x'.repeat(MEGABYTE);
  let bytes = begin.length;
  res.write(begin);
  while (!res.destroyed) {
    if (!res.write(block)) await Promise.race([once(res, 'drain'), gone]);
    bytes += block.length;
    await nextLoop();
  }
  return bytes;
}

/** What an answer begins with that is too long. */
const beginOf = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`;

const initialized = (id: number | undefined) => ({
  jsonrpc: '2.0',
  id,
  result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'flood', version: '1' } },
});

describe.each([
  ['JSON', 'application/json', ''],
  ['event', 'text/event-stream', 'data: '],
  ['event that could come again', 'text/event-stream', 'id: 1\ndata: '],
])('an answer without end, as %s', (_kind, type, prefix) => {
  test('fails its call with the limit, and only that', async () => {
    const sent = Promise.withResolvers<number>();
    let calls = 0;
    await using server = await scriptedServer({
      call: (res, id) => {
        calls += 1;
        if (calls > 1) return answerJson(res, { id, result: done });
        res.writeHead(200, { 'content-type': type });
        flood(res, prefix + beginOf(id)).then(sent.resolve, sent.reject);
      },
    });
    const { connect, closings } = testConnector();
    const connection = await connect({ type: 'http', baseUrl: server.url });
    expect(await connection.callTool('tool', {})).toEqual({ status: 'failed', reason: LIMIT });
    // What was on its way when the client had enough lies in the buffers of the sockets.
    expect(await sent.promise).toBeLessThan(64 * MEGABYTE);
    expect(said(await connection.callTool('tool', {}))).toBe('done');
    expect(closings).toEqual([]);
    await connection.close();
  });
});

describe('a message without end that belongs to no request ends the connection', () => {
  test('over Streamable HTTP', async () => {
    await using server = await scriptedServer({
      listen: (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        void flood(res, 'data: {"jsonrpc":"2.0","method":"notifications/');
      },
    });
    const { connect, closed } = testConnector();
    const connection = await connect({ type: 'http', baseUrl: server.url });
    expect(await closed).toBe(LIMIT);
    await connection.close();
  });

  test('over HTTP with SSE', async () => {
    let stream: ServerResponse | undefined;
    await using server = await serve('/sse', async (req, res) => {
      if (req.method === 'GET') {
        stream = res.writeHead(200, { 'content-type': 'text/event-stream' });
        return void res.write('event: endpoint\ndata: /message\n\n');
      }
      if (req.url !== '/message') return void res.writeHead(404).end();
      const { id, method } = (await json(req)) as { id?: number; method: string };
      res.writeHead(202).end();
      if (method === 'initialize') stream?.write(`data: ${JSON.stringify(initialized(id))}\n\n`);
      else if (stream) void flood(stream, 'data: {"jsonrpc":"2.0","method":"notifications/');
    });
    const { connect, closed } = testConnector();
    const connection = await connect({ type: 'http', baseUrl: server.url });
    expect(await closed).toBe(LIMIT);
    await connection.close();
  });
});

test('only the beginning of an error is read', async () => {
  const { promise: sent, resolve } = Promise.withResolvers<number>();
  await using server = await scriptedServer({
    call: (res) => {
      res.writeHead(500);
      void flood(res, 'out of ideas: ').then(resolve);
    },
  });
  const { connect } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  expect(await connection.callTool('tool', {})).toMatchObject({
    reason: expect.stringMatching(/^the server answered HTTP 500: out of ideas: x+…$/),
  });
  expect(await sent).toBeLessThan(32 * MEGABYTE);
  expect((await HttpStatusError.of(new Response('x'.repeat(MEGABYTE)))).text).toHaveLength(64 * 1024);
  await connection.close();
});

test('the limit counts bytes, and cuts no character of a text that is within it', async () => {
  const text = 'grüße 🙂';
  const bytes = Buffer.byteLength(text);
  expect(await boundedText(new Response(text), bytes)).toEqual({ text, isCut: false });
  expect(await boundedText(new Response(text), bytes - 1)).toEqual({ text: 'grüße ', isCut: true });
  expect(await boundedText(new Response(null), 0)).toEqual({ text: '', isCut: false });
});
