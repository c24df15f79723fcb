import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { ServiceError } from '../../../src/core/errors.ts';
import type { JsonObject } from '../../../src/core/json-object.ts';
import { JsonRpcError } from '../../../src/core/json-rpc.ts';
import { ANYONE, type RequestContext } from '../../../src/core/request/request-context.ts';
import type { ApprovalPolicy } from '../../../src/core/tool-call/approval-policy.ts';
import type { ToolCallSignal } from '../../../src/core/tool-call/tool-progress.ts';
import type { ServerQuestion } from '../../../src/core/tool-server/server-question.ts';
import type { ForwardedRequest, ForwardedRequestOptions, ServerEra } from '../../../src/ports/tool-server.ts';
import { ForwardedRequests } from '../../../src/runtime/tools/forwarded-requests.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

type Serve = (request: ForwardedRequest, options: ForwardedRequestOptions) => Promise<JsonObject>;

const CALL = {
  serverId: 'files',
  method: 'tools/call',
  params: { name: 'remove', arguments: { path: '/a' } },
  callId: 'c1',
} as const;
const ELICITATION = { elicitation: { form: {} } };
const ROOTS = { roots: {} };

function passing(
  serve: Serve,
  policy: ApprovalPolicy = 'auto',
  era: ServerEra = 'sessions',
  expiresAfterMs?: number,
) {
  const clock = new SimulatedClock();
  const signals: ToolCallSignal[] = [];
  const waiting: ((signal: ToolCallSignal) => void)[] = [];
  const connection = connectionDouble({
    era,
    listTools: async () => [],
    callTool: async () => ({ status: 'failed', reason: 'not passed on' }),
    close: async () => undefined,
    request: (request, options = {}) => serve(request, options),
  });
  const expiry = expiresAfterMs !== undefined && { expiresAfterMs };
  const requests = new ForwardedRequests({
    connectionOf: (serverId) => (serverId === 'files' ? connection : null),
    tools: () => (policy === 'deny' ? [] : [{ serverId: 'files', toolName: 'remove', policy, ...expiry }]),
    clock,
    tell(_, signal) {
      signals.push(signal);
      if (signal.type === 'tool.asked') waiting.shift()?.(signal);
    },
  });
  const asked = () => new Promise<ToolCallSignal>((resolve) => waiting.push(resolve));
  return { requests, signals, asked, clock };
}

const done: Serve = async () => ({ content: [], _meta: { extra: true } });

describe('a request that is passed on', () => {
  test('is answered with the result as it came', async () => {
    const { requests } = passing(async ({ method, params }) => ({ method, params, unknown: [1] }));
    const answer = await requests.forward(CALL, ANYONE);
    expect(answer).toEqual({ result: { method: 'tools/call', params: CALL.params, unknown: [1] } });
  });

  test('is answered with the error of the server, its code and data included', async () => {
    const { requests } = passing(async () => {
      throw new JsonRpcError(-32021, 'Missing', { requiredCapabilities: { sampling: {} } });
    });
    expect(await requests.forward(CALL, ANYONE)).toEqual({
      error: { code: -32021, message: 'Missing', data: { requiredCapabilities: { sampling: {} } } },
    });
  });

  test('is answered with an internal error when the server does not answer or is not connected', async () => {
    const { requests } = passing(async () => {
      throw new Error('the connection was lost');
    });
    expect(await requests.forward(CALL, ANYONE)).toEqual({
      error: { code: -32603, message: 'the connection was lost' },
    });
    expect(await requests.forward({ ...CALL, serverId: 'gone' }, ANYONE)).toMatchObject({
      error: { code: -32603, message: expect.stringContaining('gone') },
    });
  });

  test('tells its progress and its log messages', async () => {
    const { requests, signals } = passing(async (_, { onProgress, onLog }) => {
      onProgress?.({ progress: 1 });
      onLog?.({ level: 'info', data: 'half' });
      return {};
    });
    await requests.forward(CALL, ANYONE);
    expect(signals).toEqual([
      { type: 'tool.begun' },
      { type: 'tool.progress', progress: { progress: 1 } },
      { type: 'tool.logged', params: { level: 'info', data: 'half' } },
    ]);
  });

  test('asks its client what the server asks, once', async () => {
    const question = { method: 'roots/list', params: {} } as const;
    const { requests, asked } = passing(async (_, { onQuestion, signal = AbortSignal.abort() }) => ({
      roots: await onQuestion?.(question, signal),
    }));
    const heard = asked();
    const answer = requests.forward({ ...CALL, capabilities: ROOTS }, ANYONE);
    const signal = await heard;
    if (signal.type !== 'tool.asked') throw new Error('nothing was asked');
    expect(signal.question).toEqual(question);
    const reply = { callId: 'c1', questionId: signal.questionId, answer: { result: { roots: [] } } };
    expect(requests.answer(reply, ANYONE)).toBe(true);
    expect(await answer).toEqual({ result: { roots: { roots: [] } } });
    expect(requests.answer(reply, ANYONE)).toBe(false);
  });

  test('tells the server when the client refuses the question', async () => {
    const { requests, asked } = passing(async (_, { onQuestion, signal = AbortSignal.abort() }) => ({
      ...(await onQuestion?.({ method: 'roots/list', params: {} }, signal)),
    }));
    const heard = asked();
    const answer = requests.forward({ ...CALL, capabilities: ROOTS }, ANYONE);
    const signal = await heard;
    if (signal.type !== 'tool.asked') throw new Error('nothing was asked');
    const error = { code: -1, message: 'no' };
    requests.answer({ callId: 'c1', questionId: signal.questionId, answer: { error } }, ANYONE);
    expect(await answer).toEqual({ error });
  });

  test('can be cancelled while it runs, and before', async () => {
    const begun = Promise.withResolvers<void>();
    const { requests } = passing((_, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    });
    const cancelled = { error: { code: -32603, message: 'the request was cancelled' } };
    const early = requests.forward(CALL, ANYONE);
    expect(requests.cancel('c1')).toBe(true);
    expect(await early).toEqual(cancelled);
    const late = requests.forward(CALL, ANYONE);
    await begun.promise;
    requests.cancel('c1');
    expect(await late).toEqual(cancelled);
    expect(requests.cancel('c1')).toBe(false);
  });
});

const question = (method: ServerQuestion['method'], params: JsonObject = {}): ServerQuestion => ({
  method,
  params,
});
const LINK = question('elicitation/create', { mode: 'url', message: 'Sign in', url: 'https://a.example' });
const WITH_TOOLS = question('sampling/createMessage', { messages: [], tools: [{ name: 'x' }] });

describe('a client that has not declared that it can answer a question', () => {
  const refusedAs = (code: number) => ({ code, data: { requiredCapabilities: expect.anything() } });
  const asks = (asked: ServerQuestion, era: ServerEra = 'sessions') =>
    passing(
      async (_, { onQuestion, signal = AbortSignal.abort() }) => ({ ...(await onQuestion?.(asked, signal)) }),
      'auto',
      era,
    );

  test.each([
    [question('elicitation/create'), {}, -32601],
    [question('elicitation/create'), { elicitation: { url: {} } }, -32602],
    [LINK, {}, -32601],
    [LINK, { elicitation: {} }, -32602],
    [question('sampling/createMessage'), ELICITATION, -32601],
    [WITH_TOOLS, { sampling: {} }, -32602],
    [question('roots/list'), { roots: null }, -32602],
    [question('roots/list'), undefined, -32601],
  ])('is not asked %j if it declares %j', async (asked, capabilities, code) => {
    const { requests, signals } = asks(asked);
    const answer = await requests.forward({ ...CALL, ...(capabilities && { capabilities }) }, ANYONE);
    expect(answer).toMatchObject({ error: refusedAs(code) });
    expect(signals).toEqual([{ type: 'tool.begun' }]);
  });

  test('is not asked what a server without sessions needs', async () => {
    const { requests, signals } = asks(LINK, 'stateless');
    expect(await requests.forward({ ...CALL, capabilities: { elicitation: {} } }, ANYONE)).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    });
    expect(signals).toEqual([{ type: 'tool.begun' }]);
  });

  test.each([
    [question('elicitation/create'), { elicitation: {} }],
    [LINK, { elicitation: { url: {} } }],
    [question('sampling/createMessage', { tools: [] }), { sampling: {} }],
    [WITH_TOOLS, { sampling: { tools: {} } }],
  ])('is one that can be asked %j if it declares %j', async (asked, capabilities) => {
    const { requests, asked: hear } = asks(asked);
    const heard = hear();
    const answer = requests.forward({ ...CALL, capabilities }, ANYONE);
    expect(await heard).toMatchObject({ type: 'tool.asked', question: asked });
    requests.cancel('c1');
    expect(await answer).toMatchObject({ error: { message: 'the request was cancelled' } });
  });
});

describe('a call of a tool that needs approval', () => {
  const asking = { ...CALL, capabilities: ELICITATION };

  async function decided(content: JsonObject, action = 'accept') {
    const { requests, asked } = passing(done, 'ask');
    const heard = asked();
    const answer = requests.forward(asking, ANYONE);
    const signal = await heard;
    if (signal.type !== 'tool.asked') throw new Error('nothing was asked');
    const result = { action, content };
    requests.answer({ callId: 'c1', questionId: signal.questionId, answer: { result } }, ANYONE);
    return { answer: await answer, question: signal.question };
  }

  test('is not made when whoever answers may not approve', async () => {
    const { requests, asked } = passing(done, 'ask');
    const heard = asked();
    const answer = requests.forward(asking, ANYONE);
    const signal = await heard;
    if (signal.type !== 'tool.asked') throw new Error('nothing was asked');
    const result = { action: 'accept', content: { approve: true } };
    const reply = { callId: 'c1', questionId: signal.questionId, answer: { result } };
    const lesser: RequestContext = {
      ...ANYONE,
      rights: { roles: ['user'], scopes: new Set(['tools:execute']), credential: 'lesser' },
    };
    expect(() => requests.answer(reply, lesser)).toThrow('approvals:decide');
    expect(requests.answer(reply, ANYONE)).toBe(true);
    expect(await answer).toMatchObject({ result: { content: [] } });
  });

  test('is made when its client approves it, who sees the arguments', async () => {
    const { answer, question } = await decided({ approve: true });
    expect(answer).toEqual({ result: { content: [], _meta: { extra: true } } });
    expect(question.method).toBe('elicitation/create');
    expect(question.params.message).toContain('{"path":"/a"}');
  });

  test('is a failed result when its client does not approve it', async () => {
    const denied = { content: [{ type: 'text', text: expect.stringContaining('not now') }], isError: true };
    expect((await decided({ approve: false, reason: 'not now' })).answer).toEqual({ result: denied });
    expect((await decided({}, 'cancel')).answer).toMatchObject({ result: { isError: true } });
  });

  test('is a failed result when nobody approves it in time, and the question is over', async () => {
    let calls = 0;
    const counted: Serve = async () => {
      calls += 1;
      return {};
    };
    const { requests, asked, clock } = passing(counted, 'ask', 'sessions', 90_000);
    const heard = asked();
    let isOver = false;
    const answer = requests.forward(asking, ANYONE).finally(() => {
      isOver = true;
    });
    const signal = await heard;
    if (signal.type !== 'tool.asked') throw new Error('nothing was asked');
    clock.increment(89_999);
    await nextLoop();
    expect(isOver).toBe(false);
    clock.increment(1);
    await nextLoop();
    expect(isOver).toBe(true);
    const text = 'The call was not approved: nobody approved it within 90 seconds.';
    expect(await answer).toEqual({ result: { content: [{ type: 'text', text }], isError: true } });
    const result = { action: 'accept', content: { approve: true } };
    const late = { callId: 'c1', questionId: signal.questionId, answer: { result } };
    expect(requests.answer(late, ANYONE)).toBe(false);
    expect(calls).toBe(0);
  });

  test('runs as long as it likes once it is approved', async () => {
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<JsonObject>();
    const slow: Serve = (_, { signal }) => {
      begun.resolve();
      signal?.addEventListener('abort', () => finish.reject(signal.reason));
      return finish.promise;
    };
    const { requests, asked, clock } = passing(slow, 'ask', 'sessions', 90_000);
    const heard = asked();
    const answer = requests.forward(asking, ANYONE);
    const signal = await heard;
    if (signal.type !== 'tool.asked') throw new Error('nothing was asked');
    const result = { action: 'accept', content: { approve: true } };
    requests.answer({ callId: 'c1', questionId: signal.questionId, answer: { result } }, ANYONE);
    await begun.promise;
    clock.increment(100_000);
    finish.resolve({ content: [] });
    expect(await answer).toEqual({ result: { content: [] } });
  });

  test('is a failed result for a client that cannot be asked', async () => {
    const { requests } = passing(done, 'ask');
    expect(await requests.forward(CALL, ANYONE)).toMatchObject({ result: { isError: true } });
  });

  test('is refused for a client that may not approve', async () => {
    const { requests } = passing(done, 'ask');
    const rights = { roles: [], scopes: new Set(['tools:execute'] as const), credential: 'k' };
    const client: RequestContext = { ...ANYONE, principal: 'ci', rights };
    const refusal: unknown = await requests.forward(asking, client).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(refusal).toMatchObject({ code: 'FORBIDDEN', details: { scope: 'approvals:decide' } });
  });

  test('is unknown where the rules deny it', async () => {
    const { requests } = passing(done, 'deny');
    expect(await requests.forward(CALL, ANYONE)).toEqual({
      error: { code: -32602, message: 'Unknown tool: remove' },
    });
  });
});
