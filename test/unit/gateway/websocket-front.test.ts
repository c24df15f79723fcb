import { expect, it } from 'vitest';
import { LimitsConfig } from '../../../src/config/schema/agent-config.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { anyone } from '../../../src/gateway/security/anyone.ts';
import { OpenConnections } from '../../../src/gateway/security/open-connections.ts';
import { OriginPolicy } from '../../../src/gateway/security/origin-policy.ts';
import { rateLimits } from '../../../src/gateway/security/rate-limits.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import { WebSocketFront } from '../../../src/gateway/websocket/websocket-front.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../support/sockets/fake-socket.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

it('a client that has lost its rights since it was admitted is closed, and its place given back', () => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const broadcast = new FakeBroadcast();
  const limits = rateLimits(LimitsConfig.parse({ connectionsPerAddress: 1 }));
  const front = new WebSocketFront({
    bus,
    fanOut: new SignalFanOut(bus, broadcast),
    limits,
    connections: new OpenConnections(limits),
    maxRequestBytes: 1_000,
    originPolicy: new OriginPolicy({ listenHost: '::', allowedHosts: [], allowedOrigins: [] }),
    authenticator: anyone,
    clientAddress: (address) => address,
    log: recordingLog(),
  });
  const enter = (): FakeSocket => {
    const headers = new Map([['host', 'localhost']]);
    const handshake = { method: 'GET', path: '/', query: 'session=s', headers, peerAddress: '10.0.0.1' };
    const admission = front.admit(handshake);
    if (!('open' in admission)) throw new Error('the handshake was refused');
    const socket = new FakeSocket(broadcast);
    const life = admission.open(socket);
    life.receive('{"type":"message","content":"hello"}', 36);
    return socket;
  };
  bus.recheck = () => {
    throw new ServiceError('SESSION_NOT_FOUND', 'There is no such session.', {});
  };
  expect(enter().ended).toEqual({ code: 4404, reason: 'the session is not shared any more' });
  bus.recheck = () => {
    throw new ServiceError('UNAUTHORIZED', 'The credential was revoked.', { reason: 'revoked' });
  };
  expect(enter().ended).toEqual({ code: 4401, reason: 'revoked' });
  expect(front.load.sockets).toBe(0);
});
