import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { UnsentMessage } from '../../../src/client/session-client.ts';
import { startClient } from '../../support/sockets/client-rig.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const accepted = (seq: number, clientMessageId: string, content: string) => ({
  event: 'message',
  data: { content, clientMessageId },
  seq,
  turnId: 't',
});

function start() {
  const told: (readonly UnsentMessage[])[] = [];
  const rig = startClient({ onUnsent: (unsent) => told.push(unsent) });
  return { ...rig, told };
}

describe('the messages that are not sent yet', () => {
  it('are told while there is no connection, and no more once they are sent', async () => {
    const { service, session, told } = start();
    const sent = [session.send('one'), session.send('two', { clientMessageId: 'mine' })];
    const both = [
      { clientMessageId: 'id1', content: 'one' },
      { clientMessageId: 'mine', content: 'two' },
    ];
    expect(session.unsent).toEqual(both);
    expect(session.unsent).toBe(session.unsent);
    expect(told).toEqual([both.slice(0, 1), both]);
    service.socket.resumed(0);
    expect(session.unsent).toEqual([]);
    expect(told.at(-1)).toEqual([]);
    service.socket.say(accepted(1, 'id1', 'one'), accepted(2, 'mine', 'two'));
    await Promise.all(sent);
    expect(told).toHaveLength(3);
  });

  it('are not told of when there is a connection, nor is a command', () => {
    const { service, session, told } = start();
    void session.cancel();
    service.socket.resumed(0);
    session.send('now').catch(() => undefined);
    expect(told).toEqual([]);
    session.close();
  });

  it('do not include one that was sent over a lost connection: it may have arrived', () => {
    const { service, session, told } = start();
    service.socket.resumed(0);
    session.send('sent').catch(() => undefined);
    service.socket.drop();
    session.send('typed offline').catch(() => undefined);
    expect(session.unsent.map(({ content }) => content)).toEqual(['typed offline']);
    expect(session.withdraw('id1')).toBe(false);
    session.close();
    expect(told.at(-1)).toEqual([]);
  });

  it('can be withdrawn: they are never sent, and reject', async () => {
    const { service, session, told } = start();
    const withdrawn = expect(session.send('one')).rejects.toMatchObject({ name: 'WithdrawnError' });
    const asked = expect(session.ask('two')).rejects.toMatchObject({ name: 'WithdrawnError' });
    const kept = session.send('three');
    expect([session.withdraw('id1'), session.withdraw('id2')]).toEqual([true, true]);
    expect([session.withdraw('id1'), session.withdraw('unknown')]).toEqual([false, false]);
    await Promise.all([withdrawn, asked]);
    expect(told.at(-1)).toEqual([{ clientMessageId: 'id3', content: 'three' }]);
    service.socket.resumed(0);
    expect(service.socket.sent).toEqual([{ type: 'message', content: 'three', clientMessageId: 'id3' }]);
    service.socket.say(accepted(1, 'id3', 'three'));
    await kept;
    expect(session.withdraw('id3')).toBe(false);
  });
});

describe('a wait with limits', () => {
  it.each(['send', 'ask'] as const)('of %s ends: what was not sent never is', async (method) => {
    const { service, session } = start();
    const controller = new AbortController();
    const aborted = expect(session[method]('one', { signal: controller.signal })).rejects.toThrowError(
      'no more',
    );
    const late = expect(session[method]('two', { timeoutMs: 100 })).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'the service did not answer within 100 ms',
    });
    controller.abort(new Error('no more'));
    vi.advanceTimersByTime(100);
    await Promise.all([aborted, late]);
    expect(session.unsent).toEqual([]);
    service.socket.resumed(0);
    expect(service.socket.sent).toEqual([]);
    await expect(
      session[method]('x', { signal: AbortSignal.abort(new Error('before')) }),
    ).rejects.toThrowError('before');
    expect(service.socket.sent).toEqual([]);
  });

  it('of ready ends without closing the client', async () => {
    const { service, session } = start();
    const ended = expect(session.ready({ timeoutMs: 10 })).rejects.toMatchObject({ name: 'TimeoutError' });
    vi.advanceTimersByTime(10);
    await ended;
    service.socket.resumed(0);
    await session.ready();
    session.close();
  });

  it('leaves no timer behind once it is answered', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const sent = session.send('hi', { timeoutMs: 60_000 });
    service.socket.say(accepted(1, 'id1', 'hi'));
    await sent;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a command', () => {
  it('resolves when the service has done it, and rejects when it refuses it; the loop is told, too', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const cancelled = session.cancel();
    const approved = session.approve('c', 'hash');
    expect(service.socket.sent).toEqual([
      { type: 'cancel', commandId: 'id1' },
      { type: 'approve', callId: 'c', argumentsHash: 'hash', commandId: 'id2' },
    ]);
    service.socket.say({ event: 'done', data: { commandId: 'id1' } });
    await cancelled;
    const refusal = { code: 'APPROVAL_NOT_FOUND', message: 'no', details: { callId: 'c' } };
    const refused = expect(approved).rejects.toMatchObject({ name: 'RefusedError', ...refusal });
    const frame = { event: 'error', data: refusal, commandId: 'id2' };
    service.socket.say(frame);
    await refused;
    for await (const event of session) {
      expect(event).toEqual(frame);
      break;
    }
  });

  it('is sent once: a lost connection rejects it, and nothing happens when nobody listens', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    void session.deny('c', 'no');
    const reset = expect(session.reset()).rejects.toMatchObject({ name: 'UnansweredError' });
    service.socket.drop();
    await reset;
    vi.advanceTimersByTime(250);
    service.socket.resumed(0);
    expect(service.socket.sent).toEqual([]);
    const late = expect(session.cancel({ timeoutMs: 50 })).rejects.toMatchObject({ name: 'TimeoutError' });
    vi.advanceTimersByTime(50);
    await late;
    session.close();
    await expect(session.cancel()).rejects.toMatchObject({ name: 'ClosedError' });
  });

  it('that was not sent in its time never is', async () => {
    const { service, session } = start();
    const late = expect(session.cancel({ timeoutMs: 50 })).rejects.toMatchObject({ name: 'TimeoutError' });
    vi.advanceTimersByTime(50);
    await late;
    service.socket.resumed(0);
    expect(service.socket.sent).toEqual([]);
  });
});

describe('a turn that fails', () => {
  it('rejects its ask with the cause of the turn', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const data = { code: 'AGENT_ERROR', message: 'failed', details: {} };
    const failed = expect(session.ask('hi')).rejects.toMatchObject({
      ...data,
      cause: { kind: 'step-limit' },
    });
    service.socket.say(accepted(1, 'id1', 'hi'), {
      event: 'error',
      data,
      seq: 2,
      turnId: 't',
      cause: { kind: 'step-limit' },
    });
    await failed;
  });
});
