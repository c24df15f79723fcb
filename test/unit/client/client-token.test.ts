import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConnectOptions } from '../../../src/client/session-client.ts';
import { type ClientRig, startClient } from '../../support/sockets/client-rig.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function refusal(reason: string, status = 401, headers: Record<string, string> = {}): Response {
  const error = { code: 'UNAUTHORIZED', message: `The token is ${reason}.`, details: { reason } };
  return Response.json({ success: false, error }, { status, headers });
}

const expired = {
  event: 'error',
  data: { code: 'UNAUTHORIZED', message: 'over', details: { reason: 'expired' } },
};

/** A client with a token, once it has asked for its first ticket. */
async function start(
  token: ConnectOptions['token'],
  answers: Response[] = [],
  options = {},
): Promise<ClientRig> {
  const rig = startClient({ token, ...options });
  rig.service.ticketAnswers.push(...answers);
  await settle();
  return rig;
}

const settle = () => vi.advanceTimersByTimeAsync(0);

/** Gives a, then b, then c … */
function tokens() {
  let count = 0;
  return vi.fn(async () => {
    count += 1;
    return String.fromCharCode(96 + count);
  });
}

/** The service ends the token of the connection. */
async function endToken({ service }: ClientRig): Promise<void> {
  service.socket.say(expired);
  service.socket.drop();
  await vi.advanceTimersByTimeAsync(250);
}

/** The connection fails before its first frame, and the service says that the token has expired. */
async function failExpired({ service }: ClientRig): Promise<void> {
  service.refuse(401, expired.data);
  service.socket.drop();
  await settle();
}

describe('a client with a token', () => {
  it('gets a ticket for each connection, and never shows the token in a URL', async () => {
    const rig = await start('as_secret');
    const { service, session } = rig;
    expect(service.socket.url.search).toBe('?session=s&after=0&ticket=t1');
    service.socket.resumed(0);
    service.socket.drop();
    await vi.advanceTimersByTimeAsync(250);
    expect(service.socket.url.searchParams.get('ticket')).toBe('t2');
    expect(service.bearers).toEqual(['Bearer as_secret', 'Bearer as_secret']);
    session.close();
  });

  it('asks why a handshake was refused with its token, and without a ticket', async () => {
    const rig = await start('as_secret');
    const ready = expect(rig.session.ready()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    rig.service.refuse(400, { code: 'INVALID_REQUEST', message: 'no', details: {} });
    rig.service.socket.drop();
    await ready;
    expect(rig.service.asked).toEqual(['http://host:1/?session=s&after=0']);
  });

  it('that is a string and refused fails with the reason of the service', async () => {
    const rig = startClient({ token: 'as_old' });
    rig.service.ticketAnswers.push(refusal('expired'));
    await expect(rig.session.ready()).rejects.toMatchObject({
      name: 'RefusedError',
      code: 'UNAUTHORIZED',
      details: { reason: 'expired' },
    });
    expect([rig.service.bearers.length, rig.service.sockets.length]).toEqual([1, 0]);
  });

  it('that is a string fails when the token ends', async () => {
    const rig = await start('as_old');
    rig.service.socket.resumed(0);
    rig.service.socket.say(expired);
    await expect(rig.session.send('hi')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(rig.service.bearers).toHaveLength(1);
  });

  it('needs no ticket of a service that authenticates nobody', async () => {
    const rig = await start('as_x', [new Response('{}', { status: 404 })]);
    expect(rig.service.socket.url.search).toBe('?session=s&after=0');
    rig.session.close();
  });

  it('tries again when the service has no tickets for now', async () => {
    const onRetry = vi.fn();
    const rig = await start('as_x', [refusal('busy', 503, { 'Retry-After': '2' })], { onRetry });
    expect(onRetry).toHaveBeenCalledWith(expect.objectContaining({ name: 'RefusedError' }), 2_000);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(rig.service.socket.url.searchParams.get('ticket')).toBe('t1');
    rig.session.close();
  });

  it('that was closed meanwhile opens no connection', async () => {
    const rig = startClient({ token: 'as_x' });
    rig.session.close();
    await settle();
    expect(rig.service.sockets).toHaveLength(0);
  });

  it.each(['', 'two words', 'as_\n', 'schlüssel'])('refuses %j without showing it', async (token) => {
    const { session, service } = startClient({ token });
    const error = await session.ready().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('token: expected');
    if (token !== '') expect(String(error)).not.toContain(token);
    expect(service.bearers).toEqual([]);
  });
});

describe('a client with a function that gives tokens', () => {
  it('keeps a token until the service closes with its end, then asks for the next', async () => {
    const give = tokens();
    const rig = await start(give);
    rig.service.socket.resumed(0);
    rig.service.socket.drop();
    await vi.advanceTimersByTimeAsync(250);
    rig.service.socket.resumed(0);
    await endToken(rig);
    rig.service.socket.resumed(0);
    await endToken(rig);
    rig.service.socket.resumed(0);
    expect(rig.service.bearers).toEqual(['Bearer a', 'Bearer a', 'Bearer b', 'Bearer c']);
    expect(rig.session.status).toBe('live');
    rig.session.close();
  });

  it('asks for another when the first has expired, and connects at once', async () => {
    const rig = await start(tokens(), [refusal('expired')]);
    expect(rig.service.bearers).toEqual(['Bearer a', 'Bearer b']);
    expect(rig.service.sockets).toHaveLength(1);
    rig.session.close();
  });

  it('asks for another when it learns only from a failed connection that the first has expired', async () => {
    const rig = await start(tokens());
    await failExpired(rig);
    expect(rig.session.status).toBe('connecting');
    await vi.advanceTimersByTimeAsync(250);
    expect(rig.service.bearers).toEqual(['Bearer a', 'Bearer b']);
    rig.service.socket.resumed(0);
    expect(rig.statuses.at(-1)).toBe('live');
    rig.session.close();
  });

  it('fails when no connection was made with the second either', async () => {
    const give = tokens();
    const rig = await start(give);
    await failExpired(rig);
    await vi.advanceTimersByTimeAsync(250);
    const ready = expect(rig.session.ready()).rejects.toMatchObject({ details: { reason: 'expired' } });
    await failExpired(rig);
    await ready;
    expect(give).toHaveBeenCalledTimes(2);
  });

  it('asks for another when the second has expired while the service was away', async () => {
    const rig = await start(tokens());
    rig.service.socket.resumed(0);
    rig.service.ticketAnswers.push(refusal('away', 503), refusal('expired'));
    await endToken(rig);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(rig.service.bearers).toEqual(['Bearer a', 'Bearer b', 'Bearer b', 'Bearer c']);
    rig.service.socket.resumed(0);
    expect(rig.session.status).toBe('live');
    rig.session.close();
  });

  it.each([
    ['which has expired, too', 'expired'],
    ['which is wrong', 'unknown'],
  ])('fails after one more token, %s', async (_, reason) => {
    const give = tokens();
    const rig = startClient({ token: give });
    rig.service.ticketAnswers.push(refusal('expired'), refusal(reason));
    await expect(rig.session.ready()).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: { reason } });
    expect(give).toHaveBeenCalledTimes(2);
  });

  it('does not ask again for a token that the service does not know', async () => {
    const give = tokens();
    const rig = startClient({ token: give });
    rig.service.ticketAnswers.push(refusal('unknown'));
    await expect(rig.session.ready()).rejects.toMatchObject({ details: { reason: 'unknown' } });
    expect(give).toHaveBeenCalledTimes(1);
  });

  it('fails with the error of the function', async () => {
    const error = new Error('the identity provider is away');
    const { session } = startClient({ token: () => Promise.reject(error) });
    await expect(session.ready()).rejects.toBe(error);
    expect(session.status).toBe('closed');
  });
});
