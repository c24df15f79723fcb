import { describe, expect, test } from 'vitest';
import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import type { ToolServerConnection } from '../../../src/ports/tool-server.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { sseServer, statelessHttpServer, streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { oddServer, scriptableServer, statelessServer } from '../../support/tools/mcp/tool-servers.ts';

const answers = { sampling: true, elicitation: true, roots: true };
const roots = { roots: [{ uri: 'file:///work' }] };

async function connected(config: McpServerConfig) {
  const connector = testConnector({ answers });
  const connection = await connector.connect(config);
  return { ...connector, connection, [Symbol.asyncDispose]: () => connection.close() };
}

async function overHttp() {
  const server = await statelessHttpServer();
  const client = await connected({ type: 'http', baseUrl: server.url });
  const dispose = async () => {
    await client.connection.close();
    await server.crash();
  };
  return { ...client, server, [Symbol.asyncDispose]: dispose };
}

const call = (name: string) => ({ method: 'tools/call', params: { name, arguments: {} } });

describe('the era of a server', () => {
  test.each([
    ['that knows only the older handshake', scriptableServer(), 'sessions'],
    ['that ignores what it does not know', oddServer(['ignorant']), 'sessions'],
    ['that ends at a message that it does not know', oddServer(['strict']), 'sessions'],
    ['that knows only the newest revision', statelessServer(), 'stateless'],
  ])('over stdio %s', async (_who, config, era) => {
    await using client = await connected(config);
    expect(client.connection.era).toBe(era);
    expect(client.closings).toEqual([]);
    await client.connection.listTools();
  });

  test.each([
    ['with sessions', streamableServer, 'sessions'],
    ['of the older transport', sseServer, 'sessions'],
    ['without sessions', statelessHttpServer, 'stateless'],
  ])('over HTTP %s', async (_who, start, era) => {
    await using server = await start();
    await using client = await connected({ type: 'http', baseUrl: server.url });
    expect(client.connection.era).toBe(era);
    expect((await client.connection.listTools()).map(({ name }) => name)).toContain('echo');
    expect(said(await client.connection.callTool('echo', { message: 'hello' }))).toBe('hello');
  });
});

describe.each([
  ['stdio', () => connected(statelessServer())],
  ['HTTP', overHttp],
])('a stateless server over %s', (_transport, start) => {
  test('is asked again with the answers that it needs, and with its state', async () => {
    await using client = await start();
    const { connection } = client;
    const outcome = await connection.callTool('roots', {}, { onQuestion: async () => roots });
    expect(JSON.parse(String(said(outcome)))).toEqual({ r: roots, state: 'state-1' });
  });

  test('may give a structured result that is no object', async () => {
    await using client = await start();
    await client.connection.listTools();
    expect(await client.connection.callTool('numbers', {})).toEqual({
      status: 'succeeded',
      result: { content: [{ type: 'text', text: '[1]' }], structuredContent: [1] },
    });
  });

  test('fails the call if nobody answers', async () => {
    await using client = await start();
    expect(await client.connection.callTool('roots', {})).toEqual({
      status: 'failed',
      reason: 'the server needs an answer to roots/list, which nobody gives here',
    });
  });

  test('does not ask for ever', async () => {
    await using client = await start();
    const outcome = await client.connection.callTool('insatiable', {}, { onQuestion: async () => roots });
    expect(outcome).toMatchObject({ reason: 'the server still asks for input after 10 rounds' });
  });

  test('passes on what it needs to a client that answers by itself', async () => {
    await using client = await start();
    const result = await client.connection.request(call('roots'), { passesInput: true });
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { r: { method: 'roots/list' } },
      requestState: 'state-1',
    });
  });

  test('is told with each request what the client can answer', async () => {
    await using client = await start();
    const envelope = async (options: Parameters<ToolServerConnection['request']>[1]) => {
      const { content } = await client.connection.request(call('meta'), options);
      return JSON.stringify(content);
    };
    expect(await envelope({})).toContain('elicitation');
    const own = await envelope({ capabilities: { sampling: {} } });
    expect(own).toContain('sampling');
    expect(own).not.toContain('elicitation');
  });

  test('tells of itself', async () => {
    await using client = await start();
    const { instructions, capabilities } = client.connection;
    expect(instructions).toBe('Be brief.');
    expect(capabilities).toMatchObject({ tools: { listChanged: true } });
  });

  test('is told when a call is cancelled', async () => {
    await using client = await start();
    const abort = new AbortController();
    const onProgress = () => abort.abort();
    const outcome = await client.connection.callTool(
      'slow',
      { ms: 60_000 },
      { signal: abort.signal, onProgress },
    );
    expect(outcome).toMatchObject({ status: 'failed', reason: 'the call was cancelled' });
    expect(Number(said(await client.connection.callTool('cancelled', {})))).toBeGreaterThan(0);
  });

  test('does not wait for an answer that nobody wants any more', async () => {
    await using client = await start();
    const abort = new AbortController();
    const onQuestion = () => {
      abort.abort();
      return new Promise<never>(() => undefined);
    };
    const outcome = await client.connection.callTool('roots', {}, { signal: abort.signal, onQuestion });
    expect(outcome).toMatchObject({ status: 'failed', reason: 'the call was cancelled' });
  });
});

describe('a stateless server over HTTP', () => {
  test('gets the headers that repeat the request, for any text', async () => {
    await using client = await overHttp();
    await client.connection.listTools();
    const message = ' grüße\n';
    expect(said(await client.connection.callTool('echo', { message }))).toBe(message);
    expect(client.server.requests.at(-1)?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-param-message': `=?base64?${Buffer.from(message).toString('base64')}?=`,
    });
  });

  test('tells when its tools have changed', async () => {
    await using client = await overHttp();
    const listening = client.changes();
    await client.connection.listTools();
    // Before the subscription is open, nobody would be told.
    await client.connection.callTool('echo', { message: 'the subscription is under way' });
    client.server.tellToolsChanged();
    await client.toolsChanged;
    expect(client.changes()).toBeGreaterThan(listening);
  });

  test('is noticed to have gone', async () => {
    await using client = await overHttp();
    await client.server.crash();
    expect(await client.closed).toContain('ECONNREFUSED');
  });
});
