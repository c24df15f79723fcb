import { expect, it } from 'vitest';
import { LimitsConfig } from '../../../../src/config/schema/agent-config.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { ResponsesConnection } from '../../../../src/gateway/openai/socket/responses-connection.ts';
import { rateLimits } from '../../../../src/gateway/security/rate-limits.ts';
import { MAX_BUFFERED_BYTES, SLOW_READER_CODE } from '../../../../src/gateway/stream/recipient.ts';
import { SignalFanOut } from '../../../../src/gateway/stream/signal-fan-out.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { FakeBroadcast } from '../../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../../support/sockets/fake-socket.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

/** A socket whose response is about to begin. */
async function beginning() {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const cancelled: string[] = [];
  bus.handle('agent.list', async () => [
    { agentId: 'a', isDefault: true, name: 'a', model: 'm', agentVersion: '0' },
  ]);
  bus.handle('session.position', async () => ({ head: 0, running: null, reasoning: null }));
  bus.handle('turn.start', async ({ turnId }) => {
    asked.resolve();
    await gate.promise;
    return { turnId };
  });
  const told = Promise.withResolvers<void>();
  bus.handle('turn.cancel', async ({ turnId }) => {
    cancelled.push(turnId ?? '');
    told.resolve();
    return true;
  });
  const broadcast = new FakeBroadcast();
  const socket = new FakeSocket(broadcast);
  const connection = new ResponsesConnection(
    { context: ANYONE, address: '127.0.0.1', prefix: undefined },
    socket,
    {
      ...{ bus, fanOut: new SignalFanOut(bus, broadcast), maxRequestBytes: 100_000 },
      ...{ limits: rateLimits(LimitsConfig.parse({})), log: recordingLog(), onClosed: () => undefined },
    },
  );
  const text = JSON.stringify({ type: 'response.create', model: 'a', input: 'hi' });
  connection.receive(text, text.length);
  await asked.promise;
  return { connection, socket, gate, cancelled, cancellation: told.promise };
}

it('a response that begins while its client goes away is cancelled', async () => {
  const { connection, gate, cancelled, cancellation } = await beginning();
  connection.closed();
  gate.resolve();
  await cancellation;
  expect(cancelled).toHaveLength(1);
});

it('a response that begins while the service stops goes on later', async () => {
  const { connection, gate, cancelled } = await beginning();
  connection.end();
  connection.closed();
  gate.resolve();
  await settled();
  expect(cancelled).toEqual([]);
});

it('a client that does not read the errors of its frames is closed, and gets no more of them', async () => {
  const { connection, socket } = await beginning();
  socket.reads = false;
  const waiting = 'x'.repeat(MAX_BUFFERED_BYTES);
  socket.kept.push(waiting);
  for (let frame = 0; frame < 5; frame += 1) connection.receive('{', 1);
  await settled();
  const reason = expect.stringMatching(/^slow-reader/);
  expect(socket.endings).toEqual([{ code: SLOW_READER_CODE, reason }]);
  // Whether the client reads is known only after the first.
  expect(socket.kept).toEqual([waiting, expect.stringContaining('"type":"error"')]);
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}
