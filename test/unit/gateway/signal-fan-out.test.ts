import { describe, expect, it } from 'vitest';
import { LimitsConfig } from '../../../src/config/schema/agent-config.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import { rateLimits } from '../../../src/gateway/security/rate-limits.ts';
import { MAX_BUFFERED_BYTES, Recipient, SLOW_READER_CODE } from '../../../src/gateway/stream/recipient.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import { Connection } from '../../../src/gateway/websocket/connection.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../support/sockets/fake-socket.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const MEGABYTE = 1024 * 1024;

function makeFanOut() {
  const bus = new LocalBus((error) => {
    throw error;
  });
  const broadcast = new FakeBroadcast();
  const fanOut = new SignalFanOut(bus, broadcast);
  const join = (sessionId: string) => {
    const socket = new FakeSocket(broadcast);
    const recipient = new Recipient(socket);
    const leave = (): void => fanOut.leave(sessionId, recipient);
    // As with uWebSockets.js: what is ended is closed before `end` returns.
    socket.onEnd = leave;
    fanOut.join(sessionId, recipient);
    return { socket, leave };
  };
  return { bus, broadcast, fanOut, join };
}

function chunk(content: string, sessionId = 's'): SessionSignal {
  return { type: 'reply.chunk', sessionId, turnId: 't', step: 1, offset: 0, content };
}

function thought(content: string): SessionSignal {
  return { type: 'reply.reasoning', sessionId: 's', turnId: 't', step: 1, offset: 0, content };
}

const chunkFrame = (content: string) => ({ event: 'chunk', data: { content } });

describe('the fan-out', () => {
  it('brings the signals of a session to each of its sockets, in order, and to no other', () => {
    const { bus, join } = makeFanOut();
    const [first, second, other] = [join('s'), join('s'), join('other')];
    bus.publish(chunk('a'));
    bus.publish(chunk('b'));
    bus.publish(chunk('c', 'other'));
    expect(first.socket.frames).toEqual([chunkFrame('a'), chunkFrame('b')]);
    expect(second.socket.frames).toEqual(first.socket.frames);
    expect(other.socket.frames).toEqual([chunkFrame('c')]);
  });

  it('keeps to itself what is no frame of the interface', () => {
    const { bus, join } = makeFanOut();
    const { socket } = join('s');
    bus.publish({ sessionId: 's', seq: 1, time: 0, event: { type: 'session.reset' }, meta: null });
    bus.publish({
      sessionId: 's',
      seq: 2,
      time: 0,
      event: { type: 'turn.requested', turnId: 't', text: 'hello' },
      meta: null,
    });
    expect(socket.frames).toEqual([]);
    bus.publish({
      sessionId: 's',
      seq: 3,
      time: 0,
      event: { type: 'turn.started', turnId: 't' },
      meta: null,
    });
    expect(socket.frames).toMatchObject([{ event: 'thinking' }]);
  });

  it('brings what the model thinks aloud to those who asked for it, and to no other', () => {
    const { bus, fanOut, broadcast, join } = makeFanOut();
    const limits = LimitsConfig.parse({});
    const parts = {
      bus,
      connections: { leave: () => undefined },
      fanOut,
      limits: rateLimits(limits),
      maxRequestBytes: 1_000,
      log: recordingLog(),
      onClosed: () => undefined,
    };
    const [plain, asking] = [join('s'), new FakeSocket(broadcast)];
    const connection = new Connection(
      {
        session: 's',
        topic: 's',
        reasoning: 1,
        time: 0,
        statecharts: 0,
        context: ANYONE,
        address: '127.0.0.1',
      },
      asking,
      parts,
    );
    bus.publish(thought('Hm'));
    bus.publish(chunk('a'));
    const message = 'The agent is working on a reply.';
    const frame = { event: 'thinking', data: { message, reasoning: 'Hm' } };
    expect(asking.frames).toEqual([frame, chunkFrame('a')]);
    expect(plain.socket.frames).toEqual([chunkFrame('a')]);
    connection.closed();
    bus.publish(thought('so'));
    expect(asking.frames).toHaveLength(2);
  });

  it('sends nothing to a socket that has left; the others of its session go on', () => {
    const { bus, join } = makeFanOut();
    const [gone, stays] = [join('s'), join('s')];
    gone.leave();
    bus.publish(chunk('a'));
    expect(gone.socket.frames).toEqual([]);
    expect(stays.socket.frames).toEqual([chunkFrame('a')]);
  });

  it('begins anew when somebody joins after the last has left', () => {
    const { bus, join } = makeFanOut();
    const first = join('s');
    first.leave();
    bus.publish(chunk('unheard'));
    const second = join('s');
    first.leave();
    bus.publish(chunk('heard'));
    expect(second.socket.frames).toEqual([chunkFrame('heard')]);
  });
});

describe('the clients of one session', () => {
  it('are sent each frame once for all, from the second on', () => {
    const { bus, broadcast, join } = makeFanOut();
    const [first, other] = [join('s'), join('other')];
    bus.publish(chunk('a'));
    expect(broadcast.published).toEqual([]);
    const [second, third] = [join('s'), join('s')];
    bus.publish(chunk('b'));
    bus.publish(chunk('c', 'other'));
    expect(broadcast.published).toHaveLength(1);
    expect(first.socket.frames).toEqual([chunkFrame('a'), chunkFrame('b')]);
    expect(second.socket.frames).toEqual([chunkFrame('b')]);
    expect(third.socket.frames).toEqual([chunkFrame('b')]);
    expect(other.socket.frames).toEqual([chunkFrame('c')]);
  });

  it('hear exactly what comes while they are there', () => {
    const { bus, fanOut, join } = makeFanOut();
    const first = join('s');
    bus.publish(chunk('a'));
    const second = join('s');
    bus.publish(chunk('b'));
    first.leave();
    bus.publish(chunk('c'));
    const third = join('s');
    expect(fanOut.hasReaders('s')).toBe(true);
    bus.publish(chunk('d'));
    second.leave();
    third.leave();
    bus.publish(chunk('unheard'));
    expect(fanOut.hasReaders('s')).toBe(false);
    const fourth = join('s');
    bus.publish(chunk('e'));
    const heard = [first, second, third, fourth].map(({ socket }) => socket.frames);
    expect(heard).toEqual([
      [chunkFrame('a'), chunkFrame('b')],
      [chunkFrame('b'), chunkFrame('c'), chunkFrame('d')],
      [chunkFrame('d')],
      [chunkFrame('e')],
    ]);
  });

  it('are no subscribers any more when they have left', () => {
    const { broadcast, join } = makeFanOut();
    const all = [join('s'), join('s'), join('s')];
    expect(broadcast.subscribers('s').size).toBe(3);
    for (const { leave } of all) leave();
    expect(broadcast.subscribers('s').size).toBe(0);
  });

  it('may have readers of other frames among them, who hear each signal themselves', () => {
    const { bus, broadcast, fanOut, join } = makeFanOut();
    const heard: SessionSignal[] = [];
    const reader = { hear: (signal: SessionSignal) => heard.push(signal) };
    fanOut.join('s', reader);
    const clients = [join('s'), join('s')];
    expect(fanOut.hasReaders('s')).toBe(true);
    bus.publish(chunk('a'));
    for (const { leave } of clients) leave();
    bus.publish(chunk('b'));
    expect(heard).toEqual([chunk('a'), chunk('b')]);
    expect(broadcast.published).toHaveLength(1);
    const lone = join('s');
    bus.publish(chunk('c'));
    expect(broadcast.published).toHaveLength(1);
    expect(lone.socket.frames).toEqual([chunkFrame('c')]);
  });

  it('are each sent by themselves what is too long to be published', () => {
    const { bus, broadcast, join } = makeFanOut();
    const clients = [join('s'), join('s')];
    broadcast.maxCharacters = 100;
    const contents = ['short', 'x'.repeat(100), 'short again'];
    for (const content of contents) bus.publish(chunk(content));
    expect(broadcast.published).toHaveLength(2);
    for (const { socket } of clients) expect(socket.frames).toEqual(contents.map(chunkFrame));
  });

  it('get nothing for what is no frame of the interface', () => {
    const { bus, broadcast, join } = makeFanOut();
    join('s');
    join('s');
    bus.publish({ sessionId: 's', seq: 1, time: 0, event: { type: 'session.reset' }, meta: null });
    expect(broadcast.published).toEqual([]);
  });
});

describe('a client that does not read', () => {
  it('is closed with 1013 once too much is kept for it, and then gets nothing more', () => {
    const { bus, join } = makeFanOut();
    const { socket } = join('s');
    socket.reads = false;
    const pieces = 3 * (MAX_BUFFERED_BYTES / MEGABYTE);
    for (let piece = 0; piece < pieces; piece += 1) bus.publish(chunk('x'.repeat(MEGABYTE)));
    expect(socket.ended).toEqual({ code: SLOW_READER_CODE, reason: expect.stringMatching(/^slow-reader/) });
    expect(SLOW_READER_CODE).toBe(1013);
    expect(socket.bufferedBytes()).toBeGreaterThan(MAX_BUFFERED_BYTES);
    expect(socket.bufferedBytes()).toBeLessThan(MAX_BUFFERED_BYTES + 2 * MEGABYTE);
  });

  it('holds up nobody else', () => {
    const { bus, join } = makeFanOut();
    const [slow, quick] = [join('s'), join('s')];
    slow.socket.reads = false;
    for (let piece = 0; piece < 20; piece += 1) bus.publish(chunk('x'.repeat(MEGABYTE)));
    expect(slow.socket.ended).toBeDefined();
    expect(quick.socket.frames).toHaveLength(20);
    expect(quick.socket.ended).toBeUndefined();
  });

  it('is closed among others, too, once and with small frames, and they go on', () => {
    const { bus, fanOut, join } = makeFanOut();
    const [quick, slow, slower] = [join('s'), join('s'), join('s')];
    slow.socket.reads = false;
    slower.socket.reads = false;
    const piece = 'x'.repeat(1_000);
    const pieces = (3 * MAX_BUFFERED_BYTES) / piece.length;
    for (let said = 0; said < pieces; said += 1) bus.publish(chunk(piece));
    for (const { socket } of [slow, slower]) {
      expect(socket.endings).toEqual([{ code: SLOW_READER_CODE, reason: expect.any(String) }]);
      expect(socket.bufferedBytes()).toBeGreaterThan(MAX_BUFFERED_BYTES - MEGABYTE / 4);
      expect(socket.bufferedBytes()).toBeLessThanOrEqual(MAX_BUFFERED_BYTES);
    }
    expect(quick.socket.taken).toHaveLength(Math.ceil(pieces));
    expect(quick.socket.ended).toBeUndefined();
    expect(fanOut.hasReaders('s')).toBe(true);
  });

  it.each([1, 2])('for a while only misses nothing, as one of %i', (clients) => {
    const { bus, join } = makeFanOut();
    const [first] = Array.from({ length: clients }, () => join('s'));
    if (!first) throw new Error('nobody joined');
    const { socket } = first;
    for (let round = 0; round < 4; round += 1) {
      socket.reads = false;
      for (let piece = 0; piece < 4; piece += 1) bus.publish(chunk('x'.repeat(MEGABYTE)));
      socket.catchUp();
    }
    expect(socket.ended).toBeUndefined();
    expect(socket.frames).toHaveLength(16);
  });

  it('cannot fill the memory with the refusals of its own frames either', async () => {
    const { bus, broadcast, fanOut } = makeFanOut();
    const socket = new FakeSocket(broadcast);
    const limits = LimitsConfig.parse({ messagesPerMinute: false });
    const connection = new Connection(
      {
        session: 's',
        topic: 's',
        reasoning: 0,
        time: 0,
        statecharts: 0,
        context: ANYONE,
        address: '127.0.0.1',
      },
      socket,
      {
        bus,
        fanOut,
        connections: { leave: () => undefined },
        limits: rateLimits(limits),
        maxRequestBytes: limits.requestBytes,
        log: recordingLog(),
        onClosed: () => undefined,
      },
    );
    socket.reads = false;
    // One refusal is small: so that the test is quick, there are megabytes before the first.
    bus.publish(chunk('x'.repeat(MAX_BUFFERED_BYTES)));
    const keptBefore = socket.kept.length;
    for (let frame = 0; frame < 100; frame += 1) connection.receive('no JSON', 7);
    await socket.whenEnded;
    expect(socket.ended).toMatchObject({ code: SLOW_READER_CODE });
    expect(socket.kept.length).toBe(keptBefore);
  });
});
