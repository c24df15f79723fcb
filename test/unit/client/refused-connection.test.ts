import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  connect,
  MissingWebSocketError,
  RefusedError,
  TimeoutError,
  UnreachableError,
} from '../../../src/client/session-client.ts';
import { type ClientRig, startClient } from '../../support/sockets/client-rig.ts';
import { FakeStreamSocket } from '../../support/sockets/fake-stream-service.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const badId = {
  code: 'INVALID_REQUEST',
  message: 'The field session is invalid.',
  details: { field: 'session' },
};
const busy = { code: 'RATE_LIMIT_EXCEEDED', message: 'too many', details: { limit: 10 } };

/** The handshake fails, and the client learns why. */
async function fail({ service }: ClientRig): Promise<void> {
  service.socket.drop();
  await vi.advanceTimersByTimeAsync(0);
}

async function readAll({ session }: ClientRig): Promise<void> {
  for await (const event of session) throw new Error(`an event came: ${event.event}`);
}

describe('a connection that is refused for good', () => {
  it('rejects the loop, ready, send and commands with the envelope, and is not tried again', async () => {
    const rig = startClient({ session: 'bad/id' });
    const { service, session, statuses } = rig;
    service.refuse(400, badId);
    const waiting = [readAll(rig), session.ready(), session.send('hi'), session.ask('hi'), session.cancel()];
    const rejected = waiting.map((one) =>
      expect(one).rejects.toMatchObject({ name: 'RefusedError', ...badId }),
    );
    await fail(rig);
    await Promise.all(rejected);
    expect(service.asked).toEqual(['http://host:1/?session=bad%2Fid&after=0']);
    expect(statuses).toEqual(['closed']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(service.sockets).toHaveLength(1);
    await expect(session.send('later')).rejects.toMatchObject(badId);
    await expect(session.ready()).rejects.toBeInstanceOf(RefusedError);
  });

  it.each([
    [401, 'who are you', 'UNAUTHORIZED'],
    [403, '<html>', 'FORBIDDEN'],
    [404, 'not found', 'INVALID_REQUEST'],
    [301, '', 'INVALID_REQUEST'],
    [200, '<html>another server', 'INVALID_REQUEST'],
    [400, '{"error": {"code": 4}}', 'INVALID_REQUEST'],
  ])('with status %i of something else (%s) names status and address', async (status, body, code) => {
    const rig = startClient();
    rig.service.answer = { status, body };
    const refused = expect(rig.session.ready()).rejects.toMatchObject({
      name: 'RefusedError',
      code,
      message: expect.stringContaining('http://host:1/'),
      details: { status, url: 'http://host:1/' },
    });
    await fail(rig);
    await refused;
  });
});

describe('a connection that is refused for now', () => {
  it('is tried again when the service says, and the caller learns why', async () => {
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    const { service, session } = rig;
    service.refuse(429, busy, '3');
    const ready = session.ready();
    await fail(rig);
    expect(onRetry.mock.calls).toEqual([[expect.objectContaining({ name: 'RefusedError', ...busy }), 3_000]]);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(service.sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(service.sockets).toHaveLength(2);
    service.socket.resumed(0);
    await ready;
    expect(session.status).toBe('live');
    session.close();
  });

  it('is tried again within an hour, however long the service says', async () => {
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    const month = 30 * 24 * 60 * 60;
    rig.service.refuse(503, { code: 'SERVICE_UNAVAILABLE', message: 'm', details: {} }, String(month));
    await fail(rig);
    expect(onRetry).toHaveBeenCalledWith(expect.anything(), 3_600_000);
    await vi.advanceTimersByTimeAsync(3_599_999);
    expect(rig.service.sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(rig.service.sockets).toHaveLength(2);
    rig.session.close();
  });

  it.each([500, 502, 503, 504])('with status %i of a proxy is tried again', async (status) => {
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    rig.service.answer = { status, body: '<html>' };
    await fail(rig);
    expect(onRetry).toHaveBeenCalledWith(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }), 250);
    await vi.advanceTimersByTimeAsync(250);
    expect(rig.service.sockets).toHaveLength(2);
    rig.session.close();
  });

  it('because a proxy passes no WebSocket on is tried again, and the caller learns why from the second time on', async () => {
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    rig.service.answer = { status: 200, body: '{"status":"ready"}' };
    await fail(rig);
    expect(onRetry).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(250);
    await fail(rig);
    expect(onRetry.mock.calls).toEqual([[expect.any(UnreachableError), 500]]);
    expect(onRetry.mock.calls[0]?.[0].message).toMatch(/no WebSocket can be opened.*proxy/);
    rig.session.close();
  });

  it('because the service restarts is not blamed on a proxy: the client was connected before', async () => {
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    rig.service.socket.resumed(0);
    rig.service.socket.drop();
    await vi.advanceTimersByTimeAsync(250);
    rig.service.answer = { status: 200, body: '{"status":"ready"}' };
    await fail(rig);
    expect(onRetry).not.toHaveBeenCalled();
    rig.session.close();
  });

  it('because nothing answers is tried again, with the error of the platform as the cause', async () => {
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    await fail(rig);
    const [error, delayMs] = onRetry.mock.calls[0] ?? [];
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({
      message: expect.stringContaining('http://host:1/'),
      cause: expect.any(TypeError),
    });
    expect(delayMs).toBe(250);
    rig.session.close();
  });

  it.each([
    [
      'https://app.example.com',
      'if it runs, check that cors.origins in the agent file has https://app.example.com',
    ],
    ['http://host:1', 'no service can be reached at http://host:1/'],
  ])('in a page of %s tells whether its origin may be the reason', async (origin, end) => {
    vi.stubGlobal('location', { origin });
    const onRetry = vi.fn();
    const rig = startClient({ onRetry });
    await fail(rig);
    expect(onRetry.mock.calls[0]?.[0].message.endsWith(end)).toBe(true);
    rig.session.close();
  });

  it.each(['{"status":"ready"}', 'agent-service 0.1.0\n'])(
    'is tried again when the service says %s',
    async (body) => {
      const onRetry = vi.fn();
      const rig = startClient({ onRetry });
      rig.service.answer = { status: 200, body };
      await fail(rig);
      await vi.advanceTimersByTimeAsync(250);
      expect(rig.service.sockets).toHaveLength(2);
      expect(onRetry).not.toHaveBeenCalled();
      rig.session.close();
    },
  );

  it('is tried again when another server answers where the service was', async () => {
    const rig = startClient();
    rig.service.socket.resumed(0);
    rig.service.socket.drop();
    await vi.advanceTimersByTimeAsync(250);
    rig.service.answer = { status: 200, body: '<html>back soon' };
    await fail(rig);
    await vi.advanceTimersByTimeAsync(500);
    expect(rig.service.sockets).toHaveLength(3);
    rig.session.close();
  });

  it('is not asked about when it had brought a frame, or when the client is closed', async () => {
    const rig = startClient();
    rig.service.socket.resumed(0);
    await fail(rig);
    expect(rig.service.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
    rig.service.refuse(400, badId);
    rig.service.socket.drop();
    rig.session.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(rig.service.sockets).toHaveLength(2);
    await expect(rig.session.ready()).rejects.toThrowError('the session was closed');
  });
});

describe('how long a client waits for its connection', () => {
  it('ends with timeoutMs, and the error has the last reason', async () => {
    const rig = startClient({ timeoutMs: 1_000 });
    rig.service.refuse(503, { ...busy, code: 'SERVICE_UNAVAILABLE' });
    const ended = expect(readAll(rig)).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'there was no connection to the service within 1000 ms',
      cause: { code: 'SERVICE_UNAVAILABLE' },
    });
    await fail(rig);
    await vi.advanceTimersByTimeAsync(1_000);
    await ended;
    expect(rig.session.status).toBe('closed');
  });

  it('is the cause when a message runs out of time before there is a connection', async () => {
    const rig = startClient();
    const asked = expect(rig.session.ask('hi', { timeoutMs: 1_000 })).rejects.toMatchObject({
      name: 'TimeoutError',
      cause: { name: 'UnreachableError' },
    });
    await fail(rig);
    await vi.advanceTimersByTimeAsync(1_000);
    await asked;
    rig.session.close();
  });

  it('begins anew with each loss', async () => {
    const rig = startClient({ timeoutMs: 1_000 });
    await vi.advanceTimersByTimeAsync(900);
    rig.service.socket.resumed(0);
    await vi.advanceTimersByTimeAsync(60_000);
    rig.service.socket.drop();
    const ended = expect(rig.session.send('hi')).rejects.toBeInstanceOf(TimeoutError);
    await vi.advanceTimersByTimeAsync(999);
    expect(rig.session.status).toBe('connecting');
    await vi.advanceTimersByTimeAsync(1);
    await ended;
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    const rig = startClient({ signal: controller.signal });
    const ended = expect(readAll(rig)).rejects.toThrowError('enough');
    controller.abort(new Error('enough'));
    await ended;
    expect(rig.service.socket.isClosed).toBe(true);
    const late = startClient({ signal: AbortSignal.abort(new Error('before')) });
    await expect(late.session.ready()).rejects.toThrowError('before');
    expect(late.service.sockets).toEqual([]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('is no time of %d ms', async (timeoutMs) => {
    expect(() => startClient({ timeoutMs })).toThrowError(/timeoutMs: found .*expected milliseconds/);
    const { session } = startClient();
    await expect(session.send('hi', { timeoutMs })).rejects.toThrowError(RangeError);
    session.close();
  });
});

describe('the class of the sockets', () => {
  it('can be given', () => {
    const given: string[] = [];
    class Given extends FakeStreamSocket {
      constructor(url: string) {
        super(url);
        given.push(url);
      }
    }
    connect({ url: 'http://host:1', WebSocket: Given }).close();
    expect(given).toEqual(['ws://host:1/?session=default&after=0']);
  });

  it('is that of the package ws where the platform has none', async () => {
    vi.useRealTimers();
    vi.stubGlobal('WebSocket', undefined);
    const errors: unknown[] = [];
    await new Promise<void>((resolve) => {
      const session = connect({
        url: 'http://127.0.0.1:9',
        onRetry: (error) => {
          errors.push(error);
          session.close();
          resolve();
        },
      });
    });
    vi.unstubAllGlobals();
    expect(errors).toEqual([expect.any(UnreachableError)]);
  });

  it('is named in the error where there is none at all', () => {
    expect(new MissingWebSocketError().message).toMatch(/Node 22.*`ws`.*connect\(\{ url, WebSocket \}\)/);
  });
});
