import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { receivedMessage } from '../../../src/adapters/mcp/peer/received-message.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { serve } from '../../support/tools/mcp/http-servers.ts';
import {
  answerInStream,
  answerJson,
  done,
  scriptedServer,
} from '../../support/tools/mcp/scripted-http-server.ts';
import { oddServer } from '../../support/tools/mcp/tool-servers.ts';

const INVALID = 'the server sent an answer that is not valid MCP';
const JSON_TYPE = { 'content-type': 'application/json' };
const SECRET = 'answer-secret-77';
const textCode = { error: { code: 'ENOENT', message: `no such file, ${SECRET}` } };

describe('a call fails at once with what the server says', () => {
  test.concurrent.each([
    ['error-of-text', `${INVALID}: no such file, ***`],
    ['error-is-text', `${INVALID}: out of order`],
    ['null-result', INVALID],
  ])('over stdio: %s', async (tool, reason) => {
    const { connect, notes } = testConnector();
    const connection = await connect(oddServer([''], { env: { API_TOKEN: SECRET } }));
    expect(await connection.callTool(tool, {})).toEqual({ status: 'failed', reason });
    expect(said(await connection.callTool('another', {}))).toContain('another');
    await connection.close();
    // The whole line is in the server's log.
    const line = expect.stringMatching(/^\{"jsonrpc":"2.0","id":\d+,"(?:error|result)":/);
    expect(notes).toContainEqual({ source: 'stdout', text: line });
  });

  const limit = { code: -32_000, message: 'quota exceeded' };
  test.each<[string, (res: ServerResponse, id: number) => void, string]>([
    ['JSON', (res, id) => answerJson(res, { id, ...textCode }), `${INVALID}: no such file, ***`],
    ['JSON without an id', (res) => answerJson(res, { id: null, error: limit }), 'quota exceeded'],
    ['JSON of a proxy', (res) => res.writeHead(200, JSON_TYPE).end('{"error":"busy"}'), `${INVALID}: busy`],
    ['JSON for another request', (res) => answerJson(res, { id: 99, result: done }), INVALID],
    ['no message at all', (res) => res.writeHead(200, JSON_TYPE).end('[]'), INVALID],
    ['an event', (res, id) => answerInStream(res, { id, ...textCode }), `${INVALID}: no such file, ***`],
    ['an event without an id', (res) => answerInStream(res, { error: limit }), 'quota exceeded'],
  ])('over HTTP: %s', async (_what, call, reason) => {
    await using server = await scriptedServer({ call });
    const { connect, closings } = testConnector();
    const headers = { 'x-token': SECRET };
    const connection = await connect({ type: 'http', baseUrl: server.url, headers });
    expect(await connection.callTool('tool', {})).toEqual({ status: 'failed', reason });
    expect(closings).toEqual([]);
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
      if (id === undefined) return;
      const hello = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: 'x', version: '1' },
      };
      const answer = method === 'initialize' ? { result: hello } : textCode;
      stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n\n`);
    });
    const { connect } = testConnector();
    const connection = await connect({ type: 'http', baseUrl: server.url });
    expect(await connection.callTool('tool', {})).toMatchObject({
      reason: `${INVALID}: no such file, ${SECRET}`,
    });
    await connection.close();
  });
});

test.each([{ level: 30, id: 5, msg: 'a line of a log' }, [[]], 'text', { method: 1, id: 5 }])(
  'is no answer: %j',
  (line) => {
    expect(() => receivedMessage(line)).toThrow();
  },
);
