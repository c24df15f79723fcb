import { expect, it, vi } from 'vitest';
import { LimitsConfig } from '../../../src/config/schema/agent-config.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { contextOf } from '../../../src/core/request/request-context.ts';
import { rateLimits } from '../../../src/gateway/security/rate-limits.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import { Connection } from '../../../src/gateway/websocket/connection.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { identity } from '../../support/access/known-tokens.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../support/sockets/fake-socket.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const LIMIT = 3;

/** A connection to a service that takes a message when the test says so. */
function slow() {
  const limits = rateLimits(LimitsConfig.parse({ messagesPerMinute: LIMIT }));
  const counted = vi.spyOn(limits.messages, 'take');
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  bus.handle('turn.start', async ({ text, turnId }) => {
    await gate.promise;
    begun.push(text);
    return { turnId };
  });
  const broadcast = new FakeBroadcast();
  const socket = new FakeSocket(broadcast);
  const connection = new Connection(
    {
      session: 's',
      topic: 's',
      reasoning: 0,
      time: 0,
      statecharts: 0,
      context: contextOf(identity('ada')),
      address: '127.0.0.1',
    },
    socket,
    {
      bus,
      connections: { leave: () => undefined },
      fanOut: new SignalFanOut(bus, broadcast),
      maxRequestBytes: 1_000,
      limits,
      log: recordingLog(),
      onClosed: () => undefined,
    },
  );
  const say = (content: string): void => {
    const text = JSON.stringify({ type: 'message', content });
    connection.receive(text, text.length);
  };
  return { say, socket, connection, counted, begun, open: () => gate.resolve() };
}

it('counts frames as they come, while the first one is still waiting, and answers them in their order', async () => {
  const { say, socket, counted, begun, open } = slow();
  for (let count = 1; count <= LIMIT + 2; count += 1) say(`message ${count}`);
  await nextLoop();
  expect(counted).toHaveBeenCalledTimes(LIMIT + 2);
  expect(begun).toEqual([]);
  expect(socket.taken).toEqual([]);
  open();
  for (let turns = 0; turns < 5; turns += 1) await nextLoop();
  expect(begun).toEqual(['message 1', 'message 2', 'message 3']);
  expect(socket.taken.map((text) => JSON.parse(text))).toMatchObject(
    [1, 2].map(() => ({ event: 'error', data: { code: 'RATE_LIMIT_EXCEEDED' } })),
  );
});

it('does nothing of what its client has sent when the credential ends', async () => {
  const { say, connection, begun, open } = slow();
  for (let count = 1; count <= LIMIT; count += 1) say(`message ${count}`);
  await nextLoop();
  connection.lose(new ServiceError('UNAUTHORIZED', 'The credential was revoked.', { reason: 'revoked' }));
  open();
  for (let turns = 0; turns < 5; turns += 1) await nextLoop();
  // It was given to the bus before.
  expect(begun).toEqual(['message 1']);
});

it('closes a socket whose client goes on while the limits refuse everything', async () => {
  const { say, socket, open } = slow();
  open();
  for (let count = 0; count < LIMIT + 1_000; count += 1) say('again');
  for (let turns = 0; turns < 5; turns += 1) await nextLoop();
  expect(socket.ended).toEqual({ code: 1008, reason: 'the limits have refused 1,000 frames in a row' });
  expect(socket.taken).toHaveLength(999);
});
