import { expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { toolCallStream } from '../../../src/gateway/sse/tool-call-stream.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';

it('a client that goes away while its call cannot be cancelled leaves no rejection behind', async () => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const cancelled: string[] = [];
  bus.handle('tool.execute', ({ callId = '' }) => {
    bus.publishToolCall(callId, { type: 'tool.begun' });
    return new Promise(() => undefined);
  });
  bus.handle('tool.cancel', async ({ callId }) => {
    cancelled.push(callId);
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The nodes cannot reach each other.', {});
  });
  const { body } = await toolCallStream(
    { bus, context: ANYONE, client: { method: 'POST' }, bodyOf: () => ({}) },
    { serverId: 's', toolName: 't', arguments: {} },
  );
  if (!(body instanceof ReadableStream)) return expect.unreachable('it is no stream');
  await body.cancel();
  // An unhandled rejection would fail the run.
  await nextLoop();
  expect(cancelled).toHaveLength(1);
});
