import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/core/errors.ts';
import type { JsonRpcAnswer } from '../../../../src/core/json-rpc.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { RequestForwarder } from '../../../../src/gateway/mcp/forwarded/request-forwarder.ts';
import type { McpCall } from '../../../../src/gateway/mcp/mcp-call.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

it.each([[{ why: 'x' }], [['x', 'y']], ['x'], [undefined]])(
  'an error of a server keeps its data: %j',
  async (data) => {
    const bus = new LocalBus((error) => expect.unreachable(String(error)));
    const error = { code: -32_000, message: 'No.', ...(data !== undefined && { data }) };
    bus.handle('mcp-server.request', async () => ({ error }));
    const call: McpCall = {
      era: 'modern',
      context: ANYONE,
      signal: new AbortController().signal,
      meta: {},
      clientCapabilities: {},
      logLevel: undefined,
      log: () => undefined,
      progress: () => undefined,
    };
    const requests = new RequestForwarder({ bus, log: recordingLog() });
    const passing = requests.pass({ serverId: 's', method: 'tools/call', params: { name: 'x' } }, call);
    await expect(passing).rejects.toMatchObject({ code: -32_000, message: 'No.', data });
  },
);

it('a call ends when its server answers, although its client has not said what the server asked', async () => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const answered = Promise.withResolvers<JsonRpcAnswer>();
  const begun = Promise.withResolvers<string>();
  bus.handle('mcp-server.request', ({ callId }) => {
    begun.resolve(callId);
    return answered.promise;
  });
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const progress: unknown[] = [];
  const call: McpCall = {
    era: 'legacy',
    context: ANYONE,
    signal: new AbortController().signal,
    meta: {},
    clientCapabilities: {},
    logLevel: undefined,
    log: () => undefined,
    ask: (_method, _params, over) => {
      asked.resolve(over);
      return new Promise(() => undefined);
    },
    progress: (told) => progress.push(told),
  };
  const requests = new RequestForwarder({ bus, log: recordingLog() });
  const passing = requests.pass({ serverId: 's', method: 'tools/call', params: { name: 'x' } }, call);
  const callId = await begun.promise;
  const question = { method: 'elicitation/create', params: {} } as const;
  bus.publishToolCall(callId, { type: 'tool.asked', questionId: 'q', question });
  const over = await asked.promise;
  bus.publishToolCall(callId, { type: 'tool.progress', progress: { progress: 1 } });
  answered.resolve({ result: { content: [] } });
  expect(await passing).toEqual({ content: [] });
  expect([progress, over?.aborted]).toEqual([[{ progress: 1 }], true]);
});

it('what a client answers is passed on as of whoever has answered, and refused with the call', async () => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const begun = Promise.withResolvers<string>();
  bus.handle('mcp-server.request', ({ callId }) => {
    begun.resolve(callId);
    return new Promise(() => undefined);
  });
  const cancelled = Promise.withResolvers<string>();
  bus.handle('tool.cancel', async ({ callId }) => {
    cancelled.resolve(callId);
    return true;
  });
  bus.handle('tool.answer', async (_, { principal }) => {
    throw new ServiceError('FORBIDDEN', `not ${principal}`, {});
  });
  const call: McpCall = {
    era: 'legacy',
    context: ANYONE,
    signal: new AbortController().signal,
    meta: {},
    clientCapabilities: {},
    logLevel: undefined,
    log: () => undefined,
    progress: () => undefined,
    ask: async () => ({ answer: { result: {} }, context: { ...ANYONE, principal: 'somebody else' } }),
  };
  const requests = new RequestForwarder({ bus, log: recordingLog() });
  const passing = requests.pass({ serverId: 's', method: 'tools/call', params: { name: 'x' } }, call);
  const callId = await begun.promise;
  const question = { method: 'elicitation/create', params: {} } as const;
  bus.publishToolCall(callId, { type: 'tool.asked', questionId: 'q', question });
  await expect(passing).rejects.toThrow('not somebody else');
  expect(await cancelled.promise).toBe(callId);
});

describe('the state that a server without sessions gives its client', () => {
  function passing() {
    const sent: unknown[] = [];
    const bus = new LocalBus((error) => expect.unreachable(String(error)));
    bus.handle('mcp-server.request', async ({ params }) => {
      sent.push(params.requestState);
      return {
        result: { resultType: 'input_required', requestState: 'held-call:of-another-service', kept: 1 },
      };
    });
    const requests = new RequestForwarder({ bus, log: recordingLog() });
    const pass = (state?: string) =>
      requests.pass(
        { serverId: 's', method: 'tools/call', params: { name: 'x' } },
        {
          era: 'modern',
          context: ANYONE,
          signal: new AbortController().signal,
          meta: {},
          clientCapabilities: {},
          logLevel: undefined,
          log: () => undefined,
          progress: () => undefined,
          ...(state !== undefined && { input: { responses: {}, state } }),
        },
      );
    return { sent, pass };
  }

  it('reaches the server again as it was', async () => {
    const { sent, pass } = passing();
    const { requestState, ...rest } = await pass();
    expect(rest).toEqual({ resultType: 'input_required', kept: 1 });
    await pass(String(requestState));
    expect(sent).toEqual([undefined, 'held-call:of-another-service']);
  });

  it('reaches it also if a release before the prefix gave it to the client', async () => {
    const { sent, pass } = passing();
    await pass('of the server');
    expect(sent).toEqual(['of the server']);
  });

  it('is none of this service, whose own are not passed on', async () => {
    const { sent, pass } = passing();
    await expect(pass('held-call:unknown')).rejects.toMatchObject({ code: -32602 });
    expect(sent).toEqual([]);
  });
});
