import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProtocolError, type SessionClient, UnansweredError } from '../../../src/client/session-client.ts';
import { startClient as start } from '../../support/sockets/client-rig.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const event = (seq: number, name: string, data: object = {}) => ({ event: name, data, seq, turnId: 't' });
const message = (seq: number, clientMessageId?: string) => saidMessage(seq, 'hi', clientMessageId);
const saidMessage = (seq: number, content: string, clientMessageId?: string) =>
  event(seq, 'message', { content, ...(clientMessageId && { clientMessageId }) });
const thinking = (seq: number) => event(seq, 'thinking', { message: 'm' });
const stepCompleted = (seq: number, content: string) =>
  event(seq, 'stepCompleted', { content, step: 1, callIds: [] });
const response = (seq: number, content: string) => event(seq, 'response', { content });
const chunk = (offset: number, content: string, step = 1) => ({
  event: 'chunk',
  data: { content },
  turnId: 't',
  step,
  offset,
});
const thought = (offset: number, reasoning: string, step = 1) => ({
  event: 'thinking',
  data: { message: 'm', reasoning },
  turnId: 't',
  step,
  offset,
});
const failure = { code: 'SESSION_BUSY', message: 'busy', details: {} };

/** What the next `count` turns of a loop give. */
async function read(session: SessionClient, count: number): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const item of session) if (events.push(item) === count) break;
  return events;
}

describe('the client', () => {
  it('asks for what it lacks, and gives what comes, in order', async () => {
    const { service, session } = start({ position: { seq: 4, turnId: 't', step: 1, offset: 2 } });
    expect(service.socket.url.href).toBe('ws://host:1/?session=s&after=4&offset=2');
    service.socket.resumed(4);
    const frames = [chunk(2, 'llo'), stepCompleted(5, 'Hello'), response(6, 'Hello')];
    service.socket.say(...frames);
    expect(await read(session, 3)).toEqual(frames);
    expect(session.position).toEqual({ seq: 6, turnId: null, step: null, offset: 0 });
  });

  it('resumes where it was, and gives nothing twice', async () => {
    const { service, session, statuses } = start();
    service.socket.resumed(0);
    service.socket.say(message(1), thinking(2), chunk(0, 'He'));
    service.socket.drop();
    vi.advanceTimersByTime(250);
    expect(service.socket.url.search).toBe('?session=s&after=2&offset=2');
    service.socket.resumed(2);
    service.socket.say(message(1), thinking(2), chunk(0, 'Hello'), stepCompleted(3, 'Hello'));
    expect(await read(session, 5)).toEqual([
      message(1),
      thinking(2),
      chunk(0, 'He'),
      chunk(2, 'llo'),
      stepCompleted(3, 'Hello'),
    ]);
    expect(statuses).toEqual(['live', 'connecting', 'live']);
  });

  it('says that text is void by the turnResumed event, and begins it anew', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const frames = [chunk(0, 'Hel'), event(1, 'turnResumed', { attempt: 2 }), chunk(0, 'Other')];
    service.socket.say(...frames);
    expect(await read(session, 3)).toEqual(frames);
    expect(session.position).toEqual({ seq: 1, turnId: 't', step: 1, offset: 5 });
  });

  it('keeps its place in the running text when a waiting turn is cancelled', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const cancelled = { ...event(1, 'error', failure), turnId: 'waiting' };
    service.socket.say(chunk(0, 'Hel'), cancelled, chunk(3, 'lo'));
    await read(session, 3);
    expect(session.position).toEqual({ seq: 1, turnId: 't', step: 1, offset: 5 });
  });

  it('waits longer from try to try, to a bound, and begins anew when it was answered', () => {
    const { service, session } = start();
    const waits = [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000];
    for (const [tries, waitMs] of waits.entries()) {
      service.socket.drop();
      vi.advanceTimersByTime(waitMs - 1);
      expect(service.sockets).toHaveLength(tries + 1);
      vi.advanceTimersByTime(1);
      expect(service.sockets).toHaveLength(tries + 2);
    }
    service.socket.resumed(0);
    service.socket.drop();
    vi.advanceTimersByTime(250);
    expect(service.sockets).toHaveLength(waits.length + 2);
    session.close();
  });

  it('tries again after an error, whether a close follows it or not', () => {
    const { service, session } = start();
    service.socket.fail();
    vi.advanceTimersByTime(250);
    expect(service.sockets).toHaveLength(2);
    service.socket.fail();
    service.socket.drop();
    vi.advanceTimersByTime(500);
    expect(service.sockets).toHaveLength(3);
    session.close();
  });

  it('leaves a loop without closing, and goes on in the next', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    service.socket.say(message(1), thinking(2));
    expect(await read(session, 1)).toEqual([message(1)]);
    expect(session.position.seq).toBe(1);
    expect(await read(session, 1)).toEqual([thinking(2)]);
    const loop = session[Symbol.asyncIterator]();
    expect(() => session[Symbol.asyncIterator]()).toThrowError(/another loop/);
    await loop.return?.();
  });

  it('leaves a loop that waits for an event, and gives the event to the next loop', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const left = session[Symbol.asyncIterator]();
    const waiting = left.next();
    await left.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const reading = read(session, 2);
    // It has been left, so it says nothing about the loop that reads now.
    await left.return?.();
    expect(await left.next()).toEqual({ done: true, value: undefined });
    expect(() => session[Symbol.asyncIterator]()).toThrowError(/another loop/);
    service.socket.say(message(1), thinking(2));
    expect(await reading).toEqual([message(1), thinking(2)]);
  });

  it('ends the next loop as it ended the first one', async () => {
    const loop = async (session: ReturnType<typeof start>['session']): Promise<unknown> => {
      for await (const event of session) throw new Error(`an event came: ${event.event}`);
      return 'ended';
    };
    const closed = start();
    closed.session.close();
    expect([await loop(closed.session), await loop(closed.session)]).toEqual(['ended', 'ended']);
    const failed = start();
    failed.service.socket.say('no frame');
    const [first, second] = [
      await loop(failed.session).catch((error: unknown) => error),
      await loop(failed.session).catch((error: unknown) => error),
    ];
    expect(first).toBeInstanceOf(ProtocolError);
    expect(second).toBe(first);
  });

  it('ends the loop, the connection and what waits when it is closed', async () => {
    const { service, session, statuses } = start();
    service.socket.resumed(0);
    const pending = [session.send('hi'), session.ask('hi')].map((sent) =>
      expect(sent).rejects.toThrowError('the session was closed'),
    );
    const reading = read(session, 1);
    session.close();
    expect(await reading).toEqual([]);
    await Promise.all(pending);
    expect(service.socket.isClosed).toBe(true);
    expect(statuses.at(-1)).toBe('closed');
    await expect(session.send('hi')).rejects.toThrowError('the session was closed');
    service.socket.drop();
    vi.advanceTimersByTime(60_000);
    expect(service.sockets).toHaveLength(1);
  });
});

describe('what the model thinks aloud', () => {
  it('is asked for when it is wanted', () => {
    const { service } = start({ reasoning: true, position: { seq: 4, turnId: 't', step: 1, offset: 2 } });
    expect(service.socket.url.search).toBe('?session=s&after=4&offset=2&reasoning=1');
    expect(start({ reasoning: false }).service.socket.url.search).toBe('?session=s&after=0');
  });

  it('comes once and in order over reconnects, though the service tells all of it each time', async () => {
    const { service, session } = start({ reasoning: true });
    service.socket.resumed(0);
    service.socket.say(thinking(1), thought(0, 'The '), thought(4, 'user '));
    service.socket.drop();
    vi.advanceTimersByTime(250);
    expect(service.socket.url.search).toBe('?session=s&after=1&reasoning=1');
    service.socket.resumed(1);
    service.socket.say(thought(0, 'The user '), thought(9, 'asks'));
    service.socket.drop();
    vi.advanceTimersByTime(250);
    service.socket.resumed(1);
    service.socket.say(thought(0, 'The user asks why.'), chunk(0, 'Because'));
    service.socket.drop();
    vi.advanceTimersByTime(250);
    expect(service.socket.url.search).toBe('?session=s&after=1&offset=7&reasoning=1');
    service.socket.resumed(1);
    service.socket.say(thought(0, 'The user asks why.'), chunk(7, '.'));
    expect(await read(session, 7)).toEqual([
      thinking(1),
      thought(0, 'The '),
      thought(4, 'user '),
      thought(9, 'asks'),
      thought(13, ' why.'),
      chunk(0, 'Because'),
      chunk(7, '.'),
    ]);
  });

  it.each([
    ['the next step', stepCompleted(1, ''), thought(0, 'Now the', 2)],
    ['the step that begins anew', event(1, 'turnResumed', { attempt: 2 }), thought(0, 'Again')],
    ['the next turn', event(1, 'error', failure), { ...thought(0, 'Another'), turnId: 'u' }],
  ])('begins anew with %s', async (_, between, next) => {
    const { service, session } = start({ reasoning: true });
    service.socket.resumed(0);
    service.socket.say(thought(0, 'First I look'), between);
    service.socket.drop();
    vi.advanceTimersByTime(250);
    service.socket.resumed(1);
    service.socket.say(next);
    expect(await read(session, 3)).toEqual([thought(0, 'First I look'), between, next]);
  });

  it('goes on while another message comes, and one that waits is cancelled', async () => {
    const { service, session } = start({ reasoning: true });
    const others = [
      { ...message(1), turnId: 'waiting' },
      { ...event(2, 'error', failure), turnId: 'waiting' },
    ];
    service.socket.resumed(0);
    service.socket.say(thought(0, 'One'), ...others);
    service.socket.drop();
    vi.advanceTimersByTime(250);
    service.socket.resumed(2);
    service.socket.say(thought(0, 'One, two'));
    expect(await read(session, 4)).toEqual([thought(0, 'One'), ...others, thought(3, ', two')]);
    expect(session.position.reasoning).toEqual({ turnId: 't', step: 1, offset: 8 });
  });

  it('goes on in another process where the position was kept', async () => {
    const first = start({ reasoning: true });
    first.service.socket.resumed(0);
    first.service.socket.say(thinking(1), thought(0, 'One'), thought(3, ', two'));
    await read(first.session, 2);
    const position = JSON.parse(JSON.stringify(first.session.position));
    const second = start({ reasoning: true, position });
    second.service.socket.resumed(1);
    second.service.socket.say(thought(0, 'One, two'), chunk(0, 'Done'), stepCompleted(2, 'Done'));
    expect(await read(second.session, 3)).toEqual([
      thought(3, ', two'),
      chunk(0, 'Done'),
      stepCompleted(2, 'Done'),
    ]);
    expect(second.session.position).toEqual({ seq: 2, turnId: null, step: null, offset: 0 });
  });

  it('comes again from where the queue was full', async () => {
    const { service, session } = start({ reasoning: true, maxQueuedEvents: 2 });
    service.socket.resumed(0);
    service.socket.say(thinking(1), thought(0, 'One'), thought(3, ', two'), thought(8, ', three'));
    expect(session.status).toBe('paused');
    await read(session, 2);
    const rest = read(session, 1);
    service.socket.resumed(1);
    service.socket.say(thought(0, 'One, two, three'));
    expect(await rest).toEqual([thought(3, ', two, three')]);
  });

  it('is given as it comes where the service cannot tell its beginning any more', async () => {
    const { service, session } = start({ reasoning: true });
    service.socket.resumed(0);
    service.socket.say(thought(40, 'and so'), thought(40, 'and so on'));
    expect(await read(session, 2)).toEqual([thought(40, 'and so'), thought(46, ' on')]);
  });
});

describe('a stream that cannot be right', () => {
  const cases: Record<string, [object | string, RegExp]> = {
    'no JSON': ['{', /not a frame: \{/],
    'no frame': [{ events: 1 }, /not a frame/],
    'a chunk without content': [{ event: 'chunk', data: {} }, /not a frame/],
    'a chunk without its place': [
      { event: 'chunk', data: { content: 'x' } },
      /a chunk came without its turn/,
    ],
    'reasoning that is no text': [{ event: 'thinking', data: { message: 'm', reasoning: 1 } }, /not a frame/],
    'reasoning without its place': [
      { event: 'thinking', data: { message: 'm', reasoning: 'x' } },
      /reasoning came without its turn/,
    ],
    'an event too many': [thinking(3), /event 3 came after event 1/],
    'text too far': [chunk(1, 'x'), /text at 1 came after text up to 0/],
    'another session': [{ event: 'resumed', data: { after: 7, head: 9 } }, /resumed after event 7/],
    'a session that was lost': [{ event: 'resumed', data: { after: 1, head: 0 } }, /deleted or its data/],
  };

  it.each(Object.entries(cases))('ends the loop with an error: %s', async (_, [frame, reason]) => {
    const { service, session } = start();
    service.socket.resumed(0);
    service.socket.say(message(1));
    const sent = expect(session.send('hi')).rejects.toThrowError(reason);
    service.socket.say(frame, thinking(2));
    expect(await read(session, 1)).toEqual([message(1)]);
    await expect(read(session, 1)).rejects.toThrowError(reason);
    await sent;
    expect(session.status).toBe('closed');
  });

  it('is no event of a newer service, which is given as it is', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const newer = event(1, 'toolApproval', { callId: 'c' });
    service.socket.say(newer);
    expect(await read(session, 1)).toEqual([newer]);
  });
});

describe('a message', () => {
  const frame = (content: string, clientMessageId: string) => ({ type: 'message', content, clientMessageId });

  it('is not taken for an older one that had its id and another text', async () => {
    const { service, session } = start();
    const refused = expect(session.ask('pay Bob', { clientMessageId: 'mine' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    service.socket.resumed(2);
    service.socket.say(message(1, 'mine'), response(2, 'Ann is paid.'));
    const reused = { code: 'IDEMPOTENCY_KEY_REUSED', message: 'reused', details: {} };
    service.socket.say({ event: 'error', data: reused, clientMessageId: 'mine' });
    await refused;
  });

  it('is not sent with an id that the service cannot read', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    for (const clientMessageId of ['', 'ä', 'x'.repeat(256)])
      await expect(session.send('hi', { clientMessageId })).rejects.toThrowError(/visible ASCII/);
    expect(service.socket.sent).toEqual([]);
  });

  it('is sent when there is a connection, and is accepted when its event has come', async () => {
    const { service, session } = start();
    const receipt = session.send('hi', { whenBusy: 'reject' });
    expect(service.socket.sent).toEqual([]);
    service.socket.resumed(0);
    expect(service.socket.sent).toEqual([{ ...frame('hi', 'id1'), whenBusy: 'reject' }]);
    service.socket.say(message(1, 'foreign'), message(2, 'id1'));
    expect(await receipt).toEqual({ clientMessageId: 'id1', turnId: 't' });
  });

  it('is sent again after a lost connection when the log does not have it, in its order', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const first = session.send('first');
    const reset = session.reset();
    const second = session.send('second');
    service.socket.drop();
    const third = session.send('third');
    vi.advanceTimersByTime(250);
    service.socket.resumed(1);
    expect(service.socket.sent).toEqual([]);
    service.socket.say(saidMessage(1, 'first', 'id1'));
    expect(service.socket.sent).toEqual([frame('second', 'id3'), frame('third', 'id4')]);
    service.socket.say(saidMessage(2, 'second', 'id3'), saidMessage(3, 'third', 'id4'));
    await Promise.all([first, second, third]);
    await expect(reset).rejects.toThrowError(UnansweredError);
  });

  it('rejects when it was refused; errors without a name are events', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const refused = expect(session.send('hi')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    service.socket.say({ event: 'error', data: failure, clientMessageId: 'id1' });
    await refused;
    service.socket.say({ event: 'error', data: failure });
    expect(await read(session, 1)).toEqual([{ event: 'error', data: failure }]);
  });

  const unreadable = { code: 'INVALID_REQUEST', message: 'too deep', details: {} };

  it('rejects when the service could not read its id, if nothing else waits for an answer', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const call = expect(session.answerCall('c', 'x')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    service.socket.say({ event: 'error', data: unreadable });
    await call;
    const sent = expect(session.send('hi')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    service.socket.say({ event: 'error', data: unreadable });
    await sent;
    expect(await read(session, 2)).toHaveLength(2);
  });

  it('waits on when an error without a name is about something else, or about one of several', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const first = session.send('hi');
    service.socket.say({ event: 'error', data: failure }, { event: 'error', data: unreadable, turnId: 'u' });
    const second = session.cancel();
    service.socket.say({ event: 'error', data: unreadable });
    service.socket.say(message(1, 'id1'), { event: 'done', data: { commandId: 'id2' } });
    expect(await first).toEqual({ clientMessageId: 'id1', turnId: 't' });
    await second;
  });

  it('rejects when connections keep breaking at it', async () => {
    const { service, session } = start();
    const refused = expect(session.send('hi')).rejects.toThrowError(/broke 5 times/);
    for (let tries = 0; tries < 5; tries += 1) {
      service.socket.resumed(0);
      expect(service.socket.sent).toHaveLength(1);
      service.socket.drop();
      vi.advanceTimersByTime(250);
    }
    await refused;
    service.socket.resumed(0);
    expect(service.socket.sent).toEqual([]);
    session.close();
  });

  it('is asked with to get the reply of its turn', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const reply = session.ask('hi');
    const other = { ...response(2, 'another turn'), turnId: 'u' };
    service.socket.say(message(1, 'id1'), other, response(3, 'Hello'));
    expect(await reply).toBe('Hello');
    const failed = expect(session.ask('hi')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    service.socket.say(message(4, 'id2'), event(5, 'error', failure));
    await failed;
  });

  it('is not waited for when the service gives its turn up', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const failed = expect(session.ask('hi')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    const fault = (continues: boolean) => ({
      event: 'error',
      data: { code: 'INTERNAL_ERROR', message: 'm', details: { continues } },
    });
    service.socket.say(message(1, 'id1'), fault(true), fault(false));
    await failed;
  });

  it('that was there before is answered from what the service knows', async () => {
    const { service, session } = start();
    service.socket.resumed(0);
    const reply = session.ask('hi', { clientMessageId: 'mine' });
    await expect(session.send('hi', { clientMessageId: 'mine' })).rejects.toThrowError(/already being sent/);
    const accepted = { event: 'accepted', turnId: 't' };
    service.socket.say({ ...accepted, data: { clientMessageId: 'mine', content: 'Hello' } });
    expect(await reply).toBe('Hello');
    const failed = expect(session.ask('x')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    service.socket.say({ ...accepted, data: { clientMessageId: 'id1', error: failure } });
    await failed;
  });
});

describe('a loop that does not read', () => {
  it('stops the connection, and gets the rest when it reads on', async () => {
    const { service, session, statuses } = start({ maxQueuedEvents: 2 });
    service.socket.resumed(0);
    service.socket.say(message(1), thinking(2), chunk(0, 'Hello'), stepCompleted(3, 'Hello'));
    expect(service.socket.isClosed).toBe(true);
    expect(session.status).toBe('paused');
    vi.advanceTimersByTime(60_000);
    expect(service.sockets).toHaveLength(1);
    expect(await read(session, 2)).toEqual([message(1), thinking(2)]);
    const rest = read(session, 2);
    expect(service.socket.url.search).toBe('?session=s&after=2');
    service.socket.resumed(3);
    service.socket.say(chunk(0, 'Hello'), stepCompleted(3, 'Hello'));
    expect(await rest).toEqual([chunk(0, 'Hello'), stepCompleted(3, 'Hello')]);
    expect(statuses).toEqual(['live', 'paused', 'connecting', 'live']);
  });

  it('gets the rest once the commands that it sent are answered', async () => {
    const { service, session, statuses } = start({ maxQueuedEvents: 2 });
    service.socket.resumed(0);
    const approved = session.approve('c');
    service.socket.say(message(1), thinking(2), stepCompleted(3, 'Hello'));
    expect(await read(session, 2)).toEqual([message(1), thinking(2)]);
    const rest = read(session, 2);
    service.socket.say(response(4, 'Hello'));
    expect(service.sockets).toHaveLength(1);
    service.socket.say({ event: 'done', data: { commandId: 'id1' } });
    await approved;
    expect(service.sockets).toHaveLength(2);
    expect(service.socket.url.search).toBe('?session=s&after=2');
    service.socket.resumed(4);
    service.socket.say(stepCompleted(3, 'Hello'), response(4, 'Hello'));
    expect(await rest).toEqual([stepCompleted(3, 'Hello'), response(4, 'Hello')]);
    expect(statuses).toEqual(['live', 'connecting', 'live']);
  });

  it('gets the rest also when the connection breaks before a command is answered', async () => {
    const { service, session } = start({ maxQueuedEvents: 1 });
    service.socket.resumed(0);
    const unanswered = expect(session.approve('c')).rejects.toBeInstanceOf(UnansweredError);
    service.socket.say(message(1), thinking(2));
    expect(await read(session, 1)).toEqual([message(1)]);
    const rest = read(session, 1);
    service.socket.drop();
    await unanswered;
    vi.advanceTimersByTime(250);
    expect(service.socket.url.search).toBe('?session=s&after=1');
    service.socket.resumed(2);
    service.socket.say(thinking(2));
    expect(await rest).toEqual([thinking(2)]);
  });

  it('does not keep a question from its answer', async () => {
    const { service, session } = start({ maxQueuedEvents: 1 });
    service.socket.resumed(0);
    const reply = session.ask('hi');
    service.socket.say(message(1, 'id1'), thinking(2), chunk(0, 'Hello'));
    expect(service.socket.isClosed).toBe(false);
    service.socket.drop();
    vi.advanceTimersByTime(250);
    expect(service.socket.url.search).toBe('?session=s&after=2&offset=5');
    service.socket.resumed(2);
    service.socket.say(stepCompleted(3, 'Hello'), response(4, 'Hello'));
    expect(await reply).toBe('Hello');
    expect(session.status).toBe('paused');
    const more = session.send('more');
    service.socket.resumed(4);
    service.socket.say(saidMessage(5, 'more', 'id2'));
    await more;
    expect(await read(session, 1)).toEqual([message(1, 'id1')]);
    const rest = read(session, 1);
    expect(service.socket.url.search).toBe('?session=s&after=1');
    service.socket.resumed(5);
    service.socket.say(thinking(2));
    expect(await rest).toEqual([thinking(2)]);
  });
});
