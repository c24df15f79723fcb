import { expect, it } from 'vitest';
import { LimitsConfig } from '../../../../src/config/schema/agent-config.ts';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { ResponsesConnection } from '../../../../src/gateway/openai/socket/responses-connection.ts';
import { rateLimits } from '../../../../src/gateway/security/rate-limits.ts';
import { MAX_BUFFERED_BYTES, SLOW_READER_CODE } from '../../../../src/gateway/stream/recipient.ts';
import { SignalFanOut } from '../../../../src/gateway/stream/signal-fan-out.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { FakeBroadcast } from '../../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../../support/sockets/fake-socket.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

/** The types of the last frame that answers a request. */
const ENDS = new Set(['response.completed', 'error']);

/** A service with one agent. */
function serviceBus(): LocalBus {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  bus.handle('agent.list', async () => [
    { agentId: 'a', isDefault: true, name: 'a', model: 'm', agentVersion: '0' },
  ]);
  return bus;
}

function connected(bus: LocalBus) {
  const broadcast = new FakeBroadcast();
  const socket = new FakeSocket(broadcast);
  const connection = new ResponsesConnection(
    { context: ANYONE, address: '127.0.0.1', prefix: undefined },
    socket,
    {
      bus,
      fanOut: new SignalFanOut(bus, broadcast),
      maxRequestBytes: 100_000,
      limits: rateLimits(LimitsConfig.parse({})),
      log: recordingLog(),
      onClosed: () => undefined,
    },
  );
  return { connection, socket };
}

/** A socket whose response is about to begin. */
async function beginning() {
  const bus = serviceBus();
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const cancelled: string[] = [];
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
  const { connection, socket } = connected(bus);
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

it('the next response begins while the session of one that is not stored is being deleted', async () => {
  const bus = serviceBus();
  const logs = new Map<string, SessionEvent[]>();
  bus.handle('session.position', async ({ sessionId }) => ({
    head: logs.get(sessionId)?.length ?? 0,
    running: null,
    reasoning: null,
  }));
  bus.handle('session.events', async ({ sessionId, afterSeq }) =>
    (logs.get(sessionId) ?? []).slice(afterSeq).map((event, index) => ({
      event,
      sessionId,
      seq: afterSeq + index + 1,
      time: 0,
      meta: null,
    })),
  );
  bus.handle('turn.start', async ({ sessionId, turnId, text }) => {
    logs.set(sessionId, [
      { type: 'turn.requested', turnId, text },
      { type: 'turn.started', turnId },
      { type: 'turn.completed', turnId, content: '' },
    ]);
    return { turnId };
  });
  const erased: string[] = [];
  const gate = Promise.withResolvers<void>();
  bus.handle('session.delete', async ({ sessionId }) => {
    await gate.promise;
    erased.push(sessionId);
    return undefined;
  });
  const { connection, socket } = connected(bus);
  const ends = () => socket.frames.map((frame) => Object(frame).type).filter((type) => ENDS.has(type));
  const text = JSON.stringify({ type: 'response.create', model: 'a', input: 'hi', store: false });
  connection.receive(text, text.length);
  await expect.poll(ends).toEqual(['response.completed']);
  connection.receive(text, text.length);
  await expect.poll(ends).toEqual(['response.completed', 'response.completed']);
  expect(erased).toEqual([]);
  gate.resolve();
  await expect.poll(() => erased).toHaveLength(2);
  expect(new Set(erased)).toEqual(new Set(logs.keys()));
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

it('a client that goes on while the limits refuse everything is told no more, and closed', async () => {
  const { connection, socket } = connected(serviceBus());
  const { messagesPerMinute } = LimitsConfig.parse({});
  for (let count = 0; count < Number(messagesPerMinute) + 1_500; count += 1) connection.receive('{', 1);
  for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
  expect(socket.endings).toEqual([{ code: 1008, reason: 'the limits have refused 1,000 frames in a row' }]);
  expect(socket.taken).toHaveLength(Number(messagesPerMinute) + 999);
});
