import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { ReplyChunk, ReplyReasoning } from '../../../src/core/session/session-signal.ts';
import { sessionEventStream } from '../../../src/gateway/sse/session-event-stream.ts';
import { encodeResumable, encodeResumed } from '../../../src/gateway/stream/resumable-frames.ts';
import { ResumingReader } from '../../../src/gateway/stream/resuming-reader.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import type { AnswerOf } from '../../../src/ports/service-requests.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { stepCompleted } from '../../support/models/steps.ts';
import { eventually } from '../../support/project/eventually.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';
import { FakeSocket } from '../../support/sockets/fake-socket.ts';
import { StreamRecord } from '../../support/sockets/stream-record.ts';

const MEGABYTE = 1024 * 1024;

const chunk = (offset: number, content: string, step = 1): ReplyChunk => ({
  type: 'reply.chunk',
  sessionId: 's',
  turnId: 't',
  step,
  offset,
  content,
});
const started: SessionEvent = { type: 'turn.started', turnId: 't' };
const thought = (offset: number, content: string): ReplyReasoning => ({
  type: 'reply.reasoning',
  sessionId: 's',
  turnId: 't',
  step: 1,
  offset,
  content,
});
const stepped = (step: number, text: string): SessionEvent => stepCompleted({ turnId: 't', step, text });

/** A session that does what the test says, and its log. */
function makeSession() {
  const bus = new LocalBus((error) => {
    throw error;
  });
  const fanOut = new SignalFanOut(bus, new FakeBroadcast());
  const log: Envelope[] = [];
  const memory: { running: ReplyChunk | null; reasoning: ReplyReasoning | null } = {
    running: null,
    reasoning: null,
  };
  /** Events at the end of the log that were not published yet. */
  let unpublished = 0;
  const reads: number[] = [];
  let onPosition = (): void => undefined;
  bus.handle('session.events', async ({ afterSeq, limit }) => {
    reads.push(afterSeq);
    return log.slice(afterSeq, afterSeq + limit);
  });
  bus.handle('session.position', async () => {
    const answer: AnswerOf<'session.position'> = {
      head: log.length - unpublished,
      ...memory,
    };
    onPosition();
    return answer;
  });
  return {
    bus,
    context: ANYONE,
    fanOut,
    log,
    memory,
    reads,
    /** What happens while the position is being answered. */
    set whilePositionIsAnswered(happens: () => void) {
      onPosition = happens;
    },
    set unpublished(count: number) {
      unpublished = count;
    },
    append(event: SessionEvent): Envelope {
      const envelope = { sessionId: 's', seq: log.length + 1, time: 0, event, meta: null };
      log.push(envelope);
      return envelope;
    },
    record(event: SessionEvent): void {
      bus.publish(this.append(event));
    },
    join(position = { seq: 0, offset: 0 }, wantsReasoning = false) {
      const socket = new FakeSocket();
      const errors: unknown[] = [];
      const reader = new ResumingReader('s', position, {
        bus,
        context: () => ANYONE,
        sink: socket,
        encode: encodeResumable,
        encodeResumed,
        wantsReasoning,
        onEnd: () => errors.push('the session was deleted'),
        onError: (error) => errors.push(error),
      });
      fanOut.join('s', reader);
      const leave = (): void => fanOut.leave('s', reader);
      reader.start();
      return { socket, reader, leave, errors };
    },
  };
}

const frameCount = (socket: FakeSocket, count: number) =>
  eventually(
    async () => socket.frames,
    (frames) => frames.length >= count,
  );

describe('a reader that is ahead of what its node was told', () => {
  it('ends when the node tells another session than the log had, whose end it never heard of', async () => {
    const session = makeSession();
    for (let event = 0; event < 3; event += 1) session.append(started);
    session.unpublished = 3;
    const { socket, errors } = session.join();
    await frameCount(socket, 4);
    await eventually(
      async () => session.reads,
      (reads) => reads.length === 2,
    );
    // The session was deleted, and another one has begun with its id.
    session.log.length = 0;
    session.unpublished = 0;
    for (let event = 0; event < 4; event += 1) session.bus.publish({ ...session.append(started), time: 7 });
    expect(errors).toEqual(['the session was deleted']);
    expect(socket.frames.slice(4)).toMatchObject([{ event: 'deleted', seq: 4 }]);
  });
});

describe('a reader of a log that is ahead of the session', () => {
  const lagging = () => {
    const session = makeSession();
    session.append(started);
    const completed = session.append(stepped(1, 'hello world'));
    session.memory.running = chunk(0, 'hello world');
    session.unpublished = 1;
    return { session, completed };
  };

  it('is not told again what comes from before the events that it has', async () => {
    const { session, completed } = lagging();
    const { socket, errors } = session.join({ seq: 2, offset: 0 });
    await frameCount(socket, 1);
    await eventually(
      async () => session.reads,
      (reads) => reads.length > 0,
    );
    session.bus.publish(chunk(0, 'hello world'));
    session.unpublished = 0;
    session.memory.running = null;
    session.bus.publish(completed);
    session.record({ type: 'turn.completed', turnId: 't', content: 'hello world' });
    await frameCount(socket, 2);
    expect(socket.frames).toMatchObject([{ event: 'resumed' }, { event: 'response' }]);
    expect(errors).toEqual([]);
  });

  it.each([
    ['is told no end of the session before what it has', 2, 2],
    ['is told that the session ends before what it has, if the log does not have that either', 3, 1],
  ])('%s', async (_, after, head) => {
    const { session } = lagging();
    const { socket, errors } = session.join({ seq: after, offset: 0 });
    await frameCount(socket, 1);
    expect(socket.frames[0]).toMatchObject({ event: 'resumed', data: { after, head } });
    expect(errors).toEqual([]);
  });

  it('is told that the session was deleted, however far it is', async () => {
    const session = makeSession();
    session.append(started);
    const { socket, errors } = session.join({ seq: 99, offset: 0 });
    await frameCount(socket, 1);
    await eventually(
      async () => session.reads,
      (reads) => reads.length > 0,
    );
    session.record({ type: 'session.deleted' });
    expect(errors).toEqual(['the session was deleted']);
  });

  it('goes on with the running text when the session has caught up', async () => {
    const session = makeSession();
    session.append(started);
    const requested = session.append({ type: 'turn.requested', turnId: 'u', text: 'next' });
    session.memory.running = chunk(0, 'hello');
    session.unpublished = 1;
    const { socket, errors } = session.join({ seq: 2, offset: 2 });
    await frameCount(socket, 1);
    await eventually(
      async () => session.reads,
      (reads) => reads.length > 0,
    );
    session.bus.publish(chunk(5, ' wor'));
    session.memory.running = chunk(0, 'hello wor');
    session.unpublished = 0;
    session.bus.publish(requested);
    await frameCount(socket, 2);
    session.bus.publish(chunk(9, 'ld'));
    await frameCount(socket, 3);
    expect(socket.frames.slice(1)).toMatchObject([
      { data: { content: 'llo wor' } },
      { data: { content: 'ld' } },
    ]);
    expect(errors).toEqual([]);
  });
});

describe('a reader that resumes', () => {
  it('is not given the text of a step again when the log is ahead of the session', async () => {
    const session = makeSession();
    session.append(started);
    // In the log, and not yet told to the session, which still has the step as running.
    const completed = session.append(stepped(1, 'Hello'));
    session.memory.running = chunk(0, 'Hello');
    const { socket } = session.join();
    await frameCount(socket, 4);
    session.bus.publish(completed);
    session.memory.running = null;
    session.bus.publish(chunk(0, 'More', 2));
    await frameCount(socket, 5);
    expect(socket.frames).toMatchObject([
      { event: 'resumed' },
      { event: 'thinking', seq: 1 },
      { event: 'chunk', data: { content: 'Hello' } },
      { event: 'stepCompleted', seq: 2 },
      { event: 'chunk', step: 2 },
    ]);
  });

  it('looks again when an event comes while it asks for the running text', async () => {
    const session = makeSession();
    session.append(started);
    session.memory.running = chunk(0, 'Hello');
    let asked = 0;
    session.whilePositionIsAnswered = () => {
      asked += 1;
      if (asked !== 2) return;
      session.bus.publish(chunk(5, '!'));
      session.memory.running = null;
      session.record(stepped(1, 'Hello!'));
    };
    const { socket } = session.join();
    await frameCount(socket, 4);
    const record = new StreamRecord();
    for (const frame of socket.frames) record.add(frame);
    expect(record.textOf('t')).toBe('Hello!');
    expect(record.seq).toBe(2);
  });

  it('keeps a bounded amount for a client that does not read, and catches it up from the log', async () => {
    const session = makeSession();
    const { socket, reader } = session.join();
    await frameCount(socket, 1);
    socket.reads = false;
    let most = 0;
    for (let step = 1; step <= 50; step += 1) {
      const text = String.fromCharCode(64 + (step % 26)).repeat(MEGABYTE / 4);
      session.bus.publish(chunk(0, text, step));
      session.record(stepped(step, text));
      most = Math.max(most, socket.bufferedBytes());
    }
    expect(most).toBeLessThan(2 * MEGABYTE);
    const readsBefore = session.reads.length;
    // It has taken a little only: not yet.
    reader.drained();
    expect(session.reads).toHaveLength(readsBefore);
    socket.catchUp();
    reader.drained();
    await eventually(
      async () => socket.frames.at(-1),
      (last) => JSON.stringify(last).includes('"seq":50'),
    );
    const record = new StreamRecord();
    for (const frame of socket.frames) record.add(frame);
    expect(record.seq).toBe(50);
    session.record(started);
    expect(socket.frames.at(-1)).toMatchObject({ seq: 51 });
  });

  it('that stops in the middle of catching up is behind again', async () => {
    const session = makeSession();
    for (let step = 1; step <= 20; step += 1) session.append(stepped(step, 'x'.repeat(MEGABYTE / 2)));
    const { socket, reader } = session.join();
    socket.reads = false;
    for (let round = 0; round < 20; round += 1) {
      await vi.waitFor(() => expect(socket.kept.length).toBeGreaterThan(0), { interval: 1 });
      expect(socket.bufferedBytes()).toBeLessThan(3 * MEGABYTE);
      socket.catchUp();
      if (JSON.stringify(socket.frames.at(-1)).includes('"seq":20')) break;
      socket.reads = false;
      reader.drained();
    }
    const record = new StreamRecord();
    for (const frame of socket.frames) record.add(frame);
    expect(record.seq).toBe(20);
  });

  it('gets nothing more once it is closed, also in the middle of catching up', async () => {
    const session = makeSession();
    session.append(started);
    session.memory.running = chunk(0, 'Hello');
    let asked = 0;
    let leave = (): void => undefined;
    session.whilePositionIsAnswered = () => {
      asked += 1;
      if (asked === 2) leave();
    };
    const joined = session.join();
    leave = () => {
      joined.leave();
      joined.reader.close();
    };
    await vi.waitFor(() => expect(session.fanOut.hasReaders('s')).toBe(false));
    session.record(stepped(1, 'Hello'));
    await new Promise(setImmediate);
    expect(joined.socket.frames).toMatchObject([{ event: 'resumed' }, { seq: 1 }]);
  });

  it('is caught up from the log when an event is heard that follows events nobody was told of', async () => {
    const session = makeSession();
    const { socket, errors } = session.join();
    await frameCount(socket, 1);
    await vi.waitFor(() => expect(session.reads).toHaveLength(1));
    await new Promise(setImmediate);
    // As a fork copies them, onto an id that was waited for.
    session.append(started);
    session.append(stepped(1, 'Hello'));
    session.record({ type: 'turn.resumed', turnId: 't', attempt: 2 });
    session.bus.publish(chunk(0, 'More', 2));
    session.memory.running = chunk(0, 'More', 2);
    await frameCount(socket, 6);
    session.bus.publish(chunk(4, '!', 2));
    expect(errors).toEqual([]);
    expect(socket.frames).toMatchObject([
      { event: 'resumed', data: { after: 0, head: 0 } },
      { event: 'thinking', seq: 1 },
      { event: 'chunk', data: { content: 'Hello' } },
      { event: 'stepCompleted', seq: 2 },
      { event: 'turnResumed', seq: 3 },
      { event: 'chunk', step: 2, data: { content: 'More' } },
      { event: 'chunk', step: 2, data: { content: '!' } },
    ]);
  });

  it.each(['behind', 'catching up'])('ends when the session is deleted while it is %s', async (state) => {
    const session = makeSession();
    if (state === 'behind') session.append(stepped(1, 'x'.repeat(2 * MEGABYTE)));
    const { socket, reader, errors } = session.join();
    socket.reads = false;
    if (state === 'behind') await vi.waitFor(() => expect(socket.kept.length).toBeGreaterThan(1));
    session.record({ type: 'session.deleted' });
    session.log.length = 0;
    // The id is used again.
    for (let step = 1; step <= 12; step += 1) session.record(stepped(step, 'another session'));
    socket.catchUp();
    reader.drained();
    await new Promise(setImmediate);
    expect(errors).toEqual(['the session was deleted']);
    expect(JSON.stringify(socket.frames)).not.toContain('another session');
  });

  it('hears what the model has thought so far and thinks on, if it asked for that', async () => {
    const session = makeSession();
    session.append(started);
    session.memory.reasoning = thought(0, 'Hm');
    session.memory.running = chunk(0, 'Hel');
    const all = session.join({ seq: 0, offset: 0 }, true);
    const textOnly = session.join();
    await frameCount(all.socket, 4);
    await frameCount(textOnly.socket, 3);
    // A piece of which it has the beginning already.
    session.bus.publish(thought(1, 'm, so'));
    session.bus.publish(chunk(3, 'lo'));
    session.record(stepped(1, 'Hello'));
    const said = [
      { event: 'chunk', data: { content: 'Hel' } },
      { event: 'chunk', data: { content: 'lo' } },
      { event: 'stepCompleted', seq: 2 },
    ];
    expect(textOnly.socket.frames.slice(2)).toMatchObject(said);
    const message = 'The agent is working on a reply.';
    const place = { event: 'thinking', turnId: 't', step: 1 };
    expect(all.socket.frames.slice(2)).toEqual([
      { ...place, offset: 0, data: { message, reasoning: 'Hm' } },
      expect.objectContaining({ event: 'chunk', offset: 0 }),
      { ...place, offset: 2, data: { message, reasoning: ', so' } },
      expect.objectContaining({ event: 'chunk', offset: 3 }),
      expect.objectContaining({ event: 'stepCompleted', seq: 2 }),
    ]);
  });

  it('is told once when the log cannot be read', async () => {
    const session = makeSession();
    session.log.push({ sessionId: 's', seq: 7, time: 0, event: started, meta: null });
    const { errors } = session.join();
    await vi.waitFor(() => expect(errors).toEqual([new Error('event 7 follows event 0')]));
    session.record(stepped(1, ''));
    expect(errors).toHaveLength(1);
  });
});

describe('a session as server-sent events', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const decoder = new TextDecoder();
  const query = { after: 0, offset: 0, reasoning: 0, time: 0 } as const;
  const open = (session: ReturnType<typeof makeSession>, lastEventId?: string) => {
    const headers = new Map(lastEventId === undefined ? [] : [['last-event-id', lastEventId] as const]);
    const body = async () => new Uint8Array();
    const request = { method: 'GET', path: '/', query: '', headers, peerAddress: '', body, context: ANYONE };
    const stream = sessionEventStream({ ...session, request }, 's', query).body;
    if (!(stream instanceof ReadableStream)) throw new Error('no stream');
    const reader = stream.getReader();
    return { reader, text: async () => decoder.decode((await reader.read()).value) };
  };

  it('says something every ten seconds', async () => {
    vi.useFakeTimers();
    const { reader, text } = open(makeSession());
    expect(await text()).toBe('retry: 1000\ndata: {"event":"resumed","data":{"after":0,"head":0}}\n\n');
    for (let beat = 0; beat < 3; beat += 1) {
      const next = text();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await next).toBe(':\n\n');
    }
    await reader.cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(['abc', '2x', '-1', '1.'])(
    'is not begun anew for an id that it has not sent: %s',
    (lastEventId) => {
      expect(() => open(makeSession(), lastEventId)).toThrow('Last-Event-ID is no id of an event');
    },
  );

  it('keeps the place in the running text in the id of an event that comes in between', async () => {
    const session = makeSession();
    const { text } = open(session);
    await text();
    await vi.waitFor(() => expect(session.reads).toHaveLength(1));
    await new Promise(setImmediate);
    session.record(started);
    session.bus.publish(chunk(0, 'Hello'));
    session.record({ type: 'turn.requested', turnId: 'next', text: 'And then?' });
    session.memory.running = chunk(0, 'Hello');
    const ids = [await text(), await text(), await text()].map((event) => /^id: (.*)$/m.exec(event)?.[1]);
    expect(ids).toEqual(['1', '1.5', '2.5']);
    // Who comes back with it is not given the text again.
    const again = open(session, '2.5');
    await again.text();
    const more = again.text();
    await vi.waitFor(() => expect(session.reads.length).toBeGreaterThan(1));
    await new Promise(setImmediate);
    session.bus.publish(chunk(5, '!'));
    expect(await more).toContain('"content":"!"');
    session.record(stepped(1, 'Hello!'));
    expect(await again.text()).toMatch(/^id: 3$/m);
  });

  it('gives each client its own place, whatever another one has said that it has', async () => {
    const session = makeSession();
    session.append(started);
    const ahead = open(session, '7');
    await ahead.text();
    const { text } = open(session, '1');
    await text();
    // Whether the log has what the first client says it has, and what each of them lacks.
    await vi.waitFor(() => expect(session.reads.toSorted()).toEqual([1, 6, 7]));
    await new Promise(setImmediate);
    session.bus.publish(chunk(0, 'Hello, world'));
    expect(await text()).toMatch(/^id: 1\.12$/m);
    session.record({ type: 'turn.requested', turnId: 'next', text: 'And then?' });
    expect(await text()).toMatch(/^id: 2\.12$/m);
  });

  it('leaves nobody behind when the client goes away', async () => {
    const session = makeSession();
    const { reader, text } = open(session);
    await text();
    expect(session.fanOut.hasReaders('s')).toBe(true);
    await reader.cancel();
    expect(session.fanOut.hasReaders('s')).toBe(false);
    session.record(started);
  });

  it('ends with the error, and leaves nobody behind, when the log cannot be read', async () => {
    const session = makeSession();
    session.log.push({ sessionId: 's', seq: 7, time: 0, event: started, meta: null });
    const { reader } = open(session);
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrowError('event 7 follows event 0');
    expect(session.fanOut.hasReaders('s')).toBe(false);
  });

  it('keeps a bounded amount for a client that does not read', async () => {
    const session = makeSession();
    const { reader, text } = open(session);
    await text();
    await vi.waitFor(() => expect(session.reads.length).toBeGreaterThan(0));
    for (let step = 1; step <= 40; step += 1) session.record(stepped(step, 'x'.repeat(MEGABYTE / 4)));
    const readsBefore = session.reads.length;
    let kept = 0;
    while (session.reads.length === readsBefore) kept += (await text()).length;
    expect(kept).toBeLessThan(3 * MEGABYTE);
    let end = '';
    while (!end.includes('id: 40\n')) end = `${end.slice(-10)}${await text()}`;
    await reader.cancel();
  });
});
