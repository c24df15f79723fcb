import { describe, expect, it } from 'vitest';
import { LimitsConfig } from '../../../src/config/schema/agent-config.ts';
import { contextOf, type RequestContext } from '../../../src/core/request/request-context.ts';
import { HeldCredentials } from '../../../src/gateway/security/held-credentials.ts';
import { rateLimits } from '../../../src/gateway/security/rate-limits.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import { Connection } from '../../../src/gateway/websocket/connection.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { identity } from '../../support/access/known-tokens.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../support/sockets/fake-socket.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/** A connection whose client sends another token, which is verified when the test says so. */
function renewing() {
  const asked = Promise.withResolvers<void>();
  const verified = Promise.withResolvers<RequestContext>();
  const credentials = new HeldCredentials(() => {
    asked.resolve();
    return verified.promise;
  });
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const broadcast = new FakeBroadcast();
  const socket = new FakeSocket(broadcast);
  const context = contextOf(identity('ada'));
  const connection = new Connection(
    {
      session: 's',
      topic: 's',
      reasoning: 0,
      time: 0,
      statecharts: 0,
      context,
      address: '127.0.0.1',
    },
    socket,
    {
      bus,
      credentials,
      connections: { leave: () => undefined },
      fanOut: new SignalFanOut(bus, broadcast),
      maxRequestBytes: 1_000,
      limits: rateLimits(LimitsConfig.parse({})),
      log: recordingLog(),
      onClosed: () => undefined,
    },
  );
  const text = JSON.stringify({ type: 'auth', token: 'later' });
  connection.receive(text, text.length);
  const verify = async () => {
    verified.resolve(contextOf({ ...identity('ada'), credential: 'later' }));
    // After all that the connection does with it.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { asked: asked.promise, verify, connection, credentials, socket };
}

describe('a connection whose client sends another token', () => {
  it('ends with that one', async () => {
    const { asked, verify, credentials, socket } = renewing();
    await asked;
    await verify();
    credentials.revoke('credential-of-ada');
    expect(socket.ended).toBeUndefined();
    credentials.revoke('later');
    expect(socket.ended).toEqual({ code: 4401, reason: 'revoked' });
  });

  it('holds nothing if it was closed before the token was verified', async () => {
    const { asked, verify, connection, credentials, socket } = renewing();
    await asked;
    connection.closed();
    await verify();
    credentials.revoke('later');
    expect(socket.taken).toEqual([]);
    expect(socket.ended).toBeUndefined();
  });
});
