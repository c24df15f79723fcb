import { expect, it } from 'vitest';
import { ANYONE, contextOf, type RequestContext } from '../../../../src/core/request/request-context.ts';
import { RequestForwarder } from '../../../../src/gateway/mcp/forwarded/request-forwarder.ts';
import type { McpCall } from '../../../../src/gateway/mcp/mcp-call.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { identity } from '../../../support/access/known-tokens.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const QUESTION = { method: 'elicitation/create', params: {} } as const;
const HELD = { resultType: 'input_required' };

/** Calls of clients of the newer era, whose server asks each client that can be asked. */
function asking() {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  let begun = 0;
  const cancelled: string[] = [];
  bus.handle('mcp-server.request', async ({ callId, capabilities }) => {
    begun += 1;
    if (!capabilities?.elicitation) return { result: { content: [] } };
    queueMicrotask(() =>
      bus.publishToolCall(callId, { type: 'tool.asked', questionId: 'q', question: QUESTION }),
    );
    return new Promise(() => undefined);
  });
  bus.handle('tool.cancel', async ({ callId }) => {
    cancelled.push(callId);
    return true;
  });
  const requests = new RequestForwarder({ bus, log: recordingLog() });
  const call = (context: RequestContext, more: object = {}, asked: Partial<McpCall> = {}) =>
    requests.pass(
      { serverId: 's', method: 'tools/call', params: { name: 'x', ...more } },
      {
        era: 'modern',
        context,
        signal: new AbortController().signal,
        meta: {},
        clientCapabilities: { elicitation: {} },
        logLevel: undefined,
        log: () => undefined,
        progress: () => undefined,
        ...asked,
      },
    );
  return { call, begun: () => begun, cancelled };
}

const ada = contextOf(identity('ada'));

it('calls of one client that wait for it leave room for others, and one that goes on for the next', async () => {
  const { call, begun } = asking();
  const held = await Promise.all(Array.from({ length: 99 }, () => call(ada)));
  const last = await call(ada);
  expect([held[0], last]).toMatchObject([HELD, HELD]);
  await expect(call(ada)).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    details: { name: 'mcpHeldCalls', of: 'principal', limit: 100 },
  });
  expect(begun()).toBe(100);
  expect(await call(contextOf(identity('bob')))).toMatchObject(HELD);
  // It waits again, since it brings no answer.
  const again = { input: { responses: {}, state: String(last.requestState) } };
  expect(await call(ada, {}, again)).toMatchObject(HELD);
});

it('a call whose client cannot be asked needs no room', async () => {
  const { call, begun } = asking();
  await Promise.all(Array.from({ length: 100 }, () => call(ada)));
  expect(await call(ada, {}, { clientCapabilities: {} })).toEqual({ content: [] });
  expect(begun()).toBe(101);
});

it('no more than a thousand calls of all clients together wait', async () => {
  const { call, begun } = asking();
  await Promise.all(Array.from({ length: 1_000 }, () => call(ANYONE)));
  await expect(call(ANYONE)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(begun()).toBe(1_000);
});

it('fewer calls with long arguments wait', async () => {
  const { call, begun } = asking();
  const long = { arguments: { text: 'x'.repeat(1024 * 1024) } };
  for (let index = 0; index < 6; index += 1) expect(await call(ada, long)).toMatchObject(HELD);
  await expect(call(ada)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  expect(begun()).toBe(6);
});

it('a call that has begun before the room was taken is cancelled when it would wait', async () => {
  const { call, begun, cancelled } = asking();
  const outcomes = await Promise.allSettled(Array.from({ length: 103 }, () => call(ada)));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(3);
  expect([begun(), cancelled.length]).toEqual([103, 3]);
});
