import { describe, expect, test } from 'vitest';
import { JsonRpcError } from '../../../src/core/json-rpc.ts';
import type { ServerQuestion } from '../../../src/core/tool-server/server-question.ts';
import type { ToolServerConnection } from '../../../src/ports/tool-server.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { visitedServer } from '../../support/tools/mcp/visited-server.ts';

const answers = { sampling: true, elicitation: true, roots: true };
const roots = { roots: [{ uri: 'file:///work', name: 'work', extra: 1 }] };
const ask = (more: object = {}) => ({ method: 'roots/list', ...more });

async function overStdio() {
  const connector = testConnector({ answers });
  const connection = await connector.connect(scriptableServer());
  return { ...connector, connection, [Symbol.asyncDispose]: () => connection.close() };
}

/** A call that the server works on until `end` is called. */
function endlessCall(connection: ToolServerConnection) {
  const abort = new AbortController();
  const begun = Promise.withResolvers<void>();
  const outcome = connection.callTool(
    'slow',
    { ms: 60_000, progressEveryMs: 1 },
    { signal: abort.signal, onProgress: () => begun.resolve() },
  );
  return {
    begun: begun.promise,
    end: async () => {
      abort.abort();
      await outcome;
    },
  };
}

describe('what a server asks while it works on a call', () => {
  test('is answered by that call', async () => {
    await using server = await overStdio();
    const asked: ServerQuestion[] = [];
    const outcome = await server.connection.callTool(
      'ask',
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5, extra: { kept: true } } },
      {
        onQuestion: async (question) => {
          asked.push(question);
          return { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } };
        },
      },
    );
    expect(JSON.parse(String(said(outcome)))).toEqual({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'hi' },
    });
    expect(asked).toEqual([
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5, extra: { kept: true } } },
    ]);
    expect(server.notes).toContainEqual(
      expect.objectContaining({ source: 'request', method: 'sampling/createMessage', answer: 'answered' }),
    );
  });

  test('is refused as the client refuses it', async () => {
    await using server = await overStdio();
    const onQuestion = async () => {
      throw new JsonRpcError(-1, 'the user said no');
    };
    expect(said(await server.connection.callTool('ask', ask(), { onQuestion }))).toBe('-1');
    expect(server.notes).toContainEqual(expect.objectContaining({ answer: 'refused: the user said no' }));
  });

  test('is refused when the call answers no questions', async () => {
    await using server = await overStdio();
    expect(said(await server.connection.callTool('ask', ask()))).toBe('-32601');
  });

  test('does not tell the server what went wrong here', async () => {
    await using server = await overStdio();
    const onQuestion = () => Promise.reject(new Error('a secret of ours'));
    expect(said(await server.connection.callTool('ask', ask(), { onQuestion }))).toBe('-32603');
  });

  test('reaches nobody while another call is running, where the server cannot say whose it is', async () => {
    await using server = await overStdio();
    const other = endlessCall(server.connection);
    await other.begun;
    const onQuestion = () => Promise.reject(new Error('it must not be asked'));
    expect(said(await server.connection.callTool('ask', ask(), { onQuestion }))).toBe('-32603');
    expect(server.notes).toContainEqual(
      expect.objectContaining({
        answer: 'refused: the server does not say which of several calls it belongs to',
      }),
    );
    await other.end();
  });

  test('aborts the question when the call is cancelled', async () => {
    await using server = await overStdio();
    const abort = new AbortController();
    const aborted = Promise.withResolvers<void>();
    const onQuestion = (_question: ServerQuestion, signal: AbortSignal) => {
      signal.addEventListener('abort', () => aborted.resolve());
      abort.abort();
      return new Promise<never>(() => undefined);
    };
    const call = server.connection.callTool('ask', ask(), { onQuestion, signal: abort.signal });
    await aborted.promise;
    expect(await call).toMatchObject({ status: 'failed', reason: 'the call was cancelled' });
  });

  test('reaches nobody as long as a cancelled call may have asked it', async () => {
    await using server = await overStdio();
    const abort = new AbortController();
    const call = server.connection.callTool(
      'slow',
      { ms: 60_000, progressEveryMs: 1 },
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    await call;
    const onQuestion = () => Promise.reject(new Error('it must not be asked'));
    expect(said(await server.connection.callTool('ask', ask(), { onQuestion }))).toBe('-32603');
  });

  test('is answered over HTTP, too', async () => {
    await using server = await streamableServer();
    const { connect } = testConnector({ answers });
    const connection = await connect({ type: 'http', baseUrl: server.url });
    const outcome = await connection.callTool('ask', ask({ related: true }), {
      onQuestion: async () => roots,
    });
    expect(JSON.parse(String(said(outcome)))).toEqual(roots);
    await connection.close();
  });
});

describe('a request that is passed on', () => {
  test('resolves with the result as it came', async () => {
    await using server = await overStdio();
    const { era, capabilities } = server.connection;
    expect({ era, capabilities }).toMatchObject({
      era: 'sessions',
      capabilities: { logging: {}, tools: { listChanged: true } },
    });
    const listed = await server.connection.request({ method: 'tools/list', params: {} });
    expect(listed).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ execution: { taskSupport: 'forbidden' } })]),
    });
    const called = await server.connection.request({
      method: 'tools/call',
      params: {
        name: 'meta',
        arguments: {},
        _meta: { 'x.example/kept': [1], progressToken: 'of another client' },
      },
    });
    expect(called).toMatchObject({ content: [{ type: 'text' }] });
    const [{ text }] = called.content as [{ text: string }];
    expect(JSON.parse(text)).toEqual({ 'x.example/kept': [1], progressToken: expect.any(Number) });
  });

  test('rejects with the error of the server', async () => {
    await using server = await overStdio();
    await expect(server.connection.request({ method: 'what/ever', params: {} })).rejects.toMatchObject({
      name: 'JsonRpcError',
      code: -32601,
      message: 'Method not found',
    });
  });

  test('tells progress and log messages of its own', async () => {
    await using server = await overStdio();
    const logs: unknown[] = [];
    await server.connection.request(
      { method: 'tools/call', params: { name: 'log', arguments: { text: 'said' } } },
      { onLog: (params) => void logs.push(params) },
    );
    expect(logs).toEqual([{ level: 'warning', logger: 'script', data: { said: 'said' } }]);
  });

  test('is cancelled at the server', async () => {
    await using server = await overStdio();
    const abort = new AbortController();
    const request = server.connection.request(
      { method: 'tools/call', params: { name: 'slow', arguments: { ms: 60_000, progressEveryMs: 1 } } },
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    await expect(request).rejects.toThrow('the call was cancelled');
    expect(said(await server.connection.callTool('cancelled', { atLeast: 1 }))).toBe('1');
  });
});

describe('what a person must open before a call can be made', () => {
  const connectedTo = async (url: string) =>
    testConnector({ answers }).connect({ type: 'http', baseUrl: url });

  test('is asked, and the call is made again as long as the server needs it', async () => {
    await using server = await visitedServer(2);
    const connection = await connectedTo(server.url);
    const asked: unknown[] = [];
    const onQuestion = async ({ method, params }: ServerQuestion) => {
      asked.push([method, params]);
      return { action: 'accept' };
    };
    expect(said(await connection.callTool('pay', {}, { onQuestion }))).toBe('paid');
    const visit = (id: string) => [
      'elicitation/create',
      { mode: 'url', message: 'Sign in', elicitationId: id, url: `https://bank.example/${id}` },
    ];
    expect(asked).toEqual(['a', 'b', 'a', 'b'].map(visit));
    await connection.close();
  });

  test('is told to the model if the person refuses, if nobody can be asked, or if it never ends', async () => {
    const refusing = async () => ({ action: 'decline' });
    const unable = () => Promise.reject(new JsonRpcError(-32_601, 'nobody is there'));
    const accepting = async () => ({ action: 'accept' });
    for (const onQuestion of [refusing, unable, undefined, accepting]) {
      await using server = await visitedServer(1_000);
      const connection = await connectedTo(server.url);
      const outcome = await connection.callTool('pay', {}, { ...(onQuestion && { onQuestion }) });
      expect(outcome).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('Sign in (https://bank.example/a)'),
      });
      await connection.close();
    }
  });

  test('is for the client to decide if it made the request itself', async () => {
    await using server = await visitedServer(1);
    const connection = await connectedTo(server.url);
    const onQuestion = () => Promise.reject(new Error('it must not be asked'));
    const request = { method: 'tools/call', params: { name: 'pay', arguments: {} } };
    await expect(connection.request(request, { onQuestion })).rejects.toMatchObject({ code: -32_042 });
    await connection.close();
  });
});
