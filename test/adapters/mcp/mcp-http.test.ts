import { expect, test } from 'vitest';
import type { ToolServerConnection } from '../../../src/ports/tool-server.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import {
  constantServer,
  silentHttpServer,
  sseServer,
  streamableServer,
} from '../../support/tools/mcp/http-servers.ts';

/** Closes the connection at the end of a test, as `await using` does for the servers. */
function closing(connection: ToolServerConnection): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => connection.close() };
}

test('lists and calls tools over Streamable HTTP, and ends the session on close', async () => {
  await using server = await streamableServer();
  const { connect, closings } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  expect((await connection.listTools()).map(({ name }) => name)).toContain('echo');
  expect(said(await connection.callTool('echo', { message: 'hello' }))).toBe('hello');
  await connection.close();
  await connection.close();
  expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  expect(closings).toEqual([]);
});

test('falls back to the older HTTP with SSE', async () => {
  await using server = await sseServer();
  const { connect, toolsChanged } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await using _ = closing(connection);
  expect((await connection.listTools()).map(({ name }) => name)).toContain('echo');
  expect(said(await connection.callTool('echo', { message: 'hello' }))).toBe('hello');
  await connection.callTool('add_tool', { name: 'brand_new' });
  await toolsChanged;
});

test('tells when the tools of a server behind HTTP have changed', async () => {
  await using server = await streamableServer();
  const { connect, toolsChanged } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await using _ = closing(connection);
  let told = false;
  void toolsChanged.then(() => {
    told = true;
  });
  // The SDK opens the stream for notifications beside the handshake: what changes before it is open is told to nobody.
  let added = 0;
  const addOne = async () => {
    added += 1;
    await connection.callTool('add_tool', { name: `tool_${added}` });
    return told;
  };
  await expect.poll(addOne).toBe(true);
});

test('asks to list the tools again when the stream opens, for what changed before it', async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await streamableServer({ mayStream: gate.promise });
  const { connect, toolsChanged } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await using _ = closing(connection);
  await connection.listTools();
  await connection.callTool('add_tool', { name: 'brand_new' });
  gate.resolve();
  await toolsChanged;
  expect((await connection.listTools()).map(({ name }) => name)).toContain('brand_new');
});

test('asks to list the tools again when the stream was away for a while', async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await streamableServer({ mayStream: gate.promise });
  const { connect, changes } = testConnector({ pingIntervalMs: 50 });
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await using _ = closing(connection);
  await connection.listTools();
  gate.resolve();
  await expect.poll(() => changes()).toBe(1);
  server.endStreams();
  await connection.callTool('add_tool', { name: 'brand_new' });
  await expect.poll(() => changes()).toBe(2);
  expect(server.requests.filter(({ method }) => method === 'GET')).toHaveLength(2);
});

test.each([
  ['Streamable HTTP', streamableServer],
  ['SSE', sseServer],
])('sends headers and the credentials of the URL with every request over %s', async (_kind, start) => {
  await using server = await start();
  const { connect } = testConnector();
  const baseUrl = server.url.replace('http://', 'http://me:p%40ss%25word@');
  const connection = await connect({ type: 'http', baseUrl, headers: { 'x-team': 'blue' } });
  await connection.listTools();
  await connection.close();
  expect(server.requests.length).toBeGreaterThan(3);
  const authorization = `Basic ${Buffer.from('me:p@ss%word').toString('base64')}`;
  for (const { headers } of server.requests)
    expect(headers).toMatchObject({ authorization, 'x-team': 'blue' });
});

test.each([
  ['with a stream', true],
  ['without a stream', false],
])('notices at a failed call that a server %s has gone', async (_kind, withStream) => {
  await using server = await streamableServer({ withStream });
  const { connect, closed, closings } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await server.crash();
  expect(await connection.callTool('echo', { message: 'x' })).toMatchObject({
    status: 'failed',
    reason: expect.stringMatching(/ECONNREFUSED|the connection was lost/),
  });
  expect(await closed).toMatch(/^the server could not be reached: .*ECONNREFUSED/);
  await connection.close();
  expect(closings).toHaveLength(1);
});

test('notices at once that the stream of a server broke, and settles the call that was running', async () => {
  await using server = await streamableServer();
  const { connect, closed } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  const running = connection.callTool('slow', { ms: 60_000 });
  await connection.callTool('echo', { message: 'the stream and the slow call are open by now' });
  await server.crash();
  expect(await closed).toContain('ECONNREFUSED');
  expect(await running).toMatchObject({ status: 'failed' });
  await connection.close();
});

test('notices by asking that a server without a stream has gone', async () => {
  await using server = await streamableServer({ withStream: false });
  const { connect, closed } = testConnector({ pingIntervalMs: 50 });
  const connection = await connect({ type: 'http', baseUrl: server.url });
  await server.crash();
  expect(await closed).toContain('ECONNREFUSED');
  await connection.close();
});

test('notices that a server no longer knows the session', async () => {
  await using server = await streamableServer();
  const { connect, closed } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  server.forgetSessions();
  expect(await connection.callTool('echo', { message: 'x' })).toEqual({
    status: 'failed',
    reason: 'the server answered HTTP 404: no such session',
  });
  expect(await closed).toBe('the server answered HTTP 404: no such session');
  await connection.close();
});

test('notices that the stream of an older server ended', async () => {
  await using server = await sseServer();
  const { connect, closed } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  const running = connection.callTool('slow', { ms: 60_000 });
  await connection.callTool('echo', { message: 'the slow call has arrived' });
  await server.crash();
  expect(await closed).toMatch(/^the server ended the stream/);
  expect(await running).toMatchObject({ status: 'failed' });
  await connection.close();
});

test('says that nobody listens at the address, and keeps the credentials to itself', async () => {
  const server = await streamableServer();
  await server.crash();
  const { connect, log } = testConnector();
  const baseUrl = server.url.replace('http://', 'http://me:hunter22@').concat('?api_key=k-98765');
  const reason = await connect({ type: 'http', baseUrl }).then(String, (error: Error) => error.message);
  expect(reason).toMatch(/^the server could not be reached: connect ECONNREFUSED/);
  expect(`${reason} ${JSON.stringify(log.lines)}`).not.toMatch(/hunter22|k-98765/);
});

test('tells the status and the start of the page of a server that is no MCP server', async () => {
  await using server = await constantServer(404, `nothing here for Bearer t-secret ${'x'.repeat(1_000)}`);
  const { connect } = testConnector();
  const headers = { authorization: 'Bearer t-secret' };
  const reason = await connect({ type: 'http', baseUrl: server.url, headers }).then(
    String,
    (e: Error) => e.message,
  );
  expect(reason).toMatch(/^the server answered HTTP 404: nothing here for \*\*\* x+…$/);
  expect(reason.length).toBeLessThan(400);
});

test('does not fall back when the server refuses the credentials', async () => {
  await using server = await constantServer(401, 'who are you?');
  const { connect } = testConnector();
  const connecting = connect({ type: 'http', baseUrl: server.url });
  await expect(connecting).rejects.toThrow('the server answered HTTP 401: who are you?');
  expect(server.requests).toHaveLength(1);
});

test('gives up on a server behind HTTP that does not answer', async () => {
  await using server = await silentHttpServer();
  const { connect } = testConnector();
  const connecting = connect({ type: 'http', baseUrl: server.url, timeout: 100 });
  await expect(connecting).rejects.toThrow('the server did not answer within 100 ms');
});

test('stops connecting to a server behind HTTP when told so', async () => {
  await using server = await silentHttpServer();
  const { connect } = testConnector();
  const controller = new AbortController();
  const connecting = connect({ type: 'http', baseUrl: server.url }, controller.signal);
  setImmediate(() => controller.abort());
  await expect(connecting).rejects.toThrow('connecting was cancelled');
});

test('settles a call that takes too long, and tells the server', async () => {
  await using server = await streamableServer();
  const { connect } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url, timeout: 500 });
  await using _ = closing(connection);
  expect(await connection.callTool('slow', { ms: 60_000 })).toEqual({
    status: 'failed',
    reason: 'the server did not answer within 500 ms',
  });
  expect(said(await connection.callTool('cancelled', { atLeast: 1 }))).toBe('1');
});

test('waits on as long as the server reports progress', async () => {
  await using server = await streamableServer();
  const { connect } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url, timeout: 500 });
  await using _ = closing(connection);
  expect(said(await connection.callTool('slow', { ms: 800, progressEveryMs: 50 }))).toBe('done');
});
