import { describe, expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import {
  byTurn,
  checkTurn,
  type PrescribedTurn,
  prescribedPieces,
} from '../../support/models/prescribed-turn.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { EventSourceStream } from '../../support/sockets/event-source.ts';
import { pieceFaults } from '../../support/sockets/prescribed-stream.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';
import { ResumingSocket } from '../../support/sockets/resuming-socket.ts';
import { StreamRecord } from '../../support/sockets/stream-record.ts';
import { verifies } from '../requirements.ts';

const story = (id: string): string => `Story ${id}: ${'and so it goes on 😀 and on. '.repeat(8)}`;
const prescribe = (message: string): PrescribedTurn => ({
  message,
  reply: story(message.slice('story '.length)),
});
const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '^story (\\d+)$', reply: story('$1') }] },
  limits: { messagesPerMinute: false, requestsPerMinute: false, connectionsPerAddress: false },
  server: { drainTimeoutMs: 0 },
});

const resume = (service: RunningService, query = '?session=s&after=0') =>
  new ResumingSocket(`ws://127.0.0.1:${service.port}/${query}`);
const ask = (service: RunningService, message: string) =>
  service.post('/api/message-sync', { message, sessionId: 's' });
const record = (frames: readonly ResumableFrame[]): StreamRecord => {
  const made = new StreamRecord();
  for (const frame of frames) made.add(frame);
  return made;
};
const resumed = (after: number, head: number) => ({ event: 'resumed', data: { after, head } });
const isChunk = ({ event }: { event: string }): boolean => event === 'chunk';
const startDirected = async () => {
  const model = new DirectedModel();
  return { model, service: await RunningService.start({ yaml: YAML, adapters: { model } }) };
};

/** Throws unless they are the turns of `story 0`, `story 1` and so on, each as the script has it. */
function checkTurns(log: readonly ResumableFrame[], count: number): void {
  const told = [...byTurn(log).values()];
  expect(told).toHaveLength(count);
  for (const [turn, frames] of told.entries()) checkTurn(frames, prescribe(`story ${turn}`));
}

describe('a WebSocket with after', () => {
  verifies('stream.resumed', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    using empty = resume(service);
    expect(await empty.until(({ length }) => length === 1)).toEqual([resumed(0, 0)]);
    await ask(service, 'hello');
    const head = (await readLog(service, 's')).length;
    using current = resume(service, `?session=s&after=${head}`);
    expect(await current.until(({ length }) => length === 1)).toEqual([resumed(head, head)]);
    using ahead = resume(service, `?session=s&after=${head + 5}`);
    expect(await ahead.until(({ length }) => length === 1)).toEqual([resumed(head + 5, head)]);
    using late = resume(service);
    expect((await late.settled())[0]).toEqual(resumed(0, head));
  });

  verifies('stream.default', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    using plain = await service.connect('?session=s');
    using resuming = resume(service);
    await resuming.until(({ length }) => length === 1);
    resuming.send({ type: 'message', content: 'story 7', clientMessageId: 'm1' });
    const { events, pieces } = record(await resuming.settled());
    checkTurn(events, prescribe('story 7'));
    expect(pieces.map(({ content }) => content)).toEqual(prescribedPieces(story('7')));
    // The plain client checks each frame to be one of the interface, with nothing more in it.
    const [thinking, ...rest] = await plain.settled();
    expect(thinking?.event).toBe('thinking');
    expect(rest).toEqual([
      ...prescribedPieces(story('7')).map((content) => ({ event: 'chunk', data: { content } })),
      { event: 'response', data: { content: story('7') } },
    ]);
  });

  verifies('stream.late', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using first = resume(service);
    await first.until(({ length }) => length === 1);
    first.send({ type: 'message', content: 'hello' });
    const call = await model.call(0);
    call.say('One ', 'two 😀 ', 'three');
    await first.until((frames) => frames.filter(isChunk).length === 3);
    using late = resume(service);
    const chunks = (await late.until((frames) => frames.some(isChunk))).filter(isChunk);
    expect(chunks).toMatchObject([{ step: 1, offset: 0, data: { content: 'One two 😀 three' } }]);
    call.answer(' four');
    const { events } = record(await late.settled());
    expect(events).toEqual(record(await first.settled()).events);
    checkTurn(events, { message: 'hello', reply: 'One two 😀 three four' });
    expect(late.frames.filter(isChunk).at(-1)).toMatchObject({ offset: 16, data: { content: ' four' } });
  });

  verifies('stream.offset', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using first = resume(service);
    await first.until(({ length }) => length === 1);
    first.send({ type: 'message', content: 'hello' });
    const call = await model.call(0);
    call.say('Hello, world');
    await first.until((frames) => frames.some(isChunk));
    using part = resume(service, '?session=s&after=2&offset=7');
    await part.until((frames) => frames.some(isChunk));
    using all = resume(service, '?session=s&after=2&offset=12');
    await all.until(({ length }) => length === 1);
    call.answer('!');
    const texts = (frames: readonly ResumableFrame[]) => frames.filter(isChunk).map(({ data }) => data);
    expect(texts(await part.settled())).toEqual([{ content: 'world' }, { content: '!' }]);
    expect(texts(await all.settled())).toEqual([{ content: '!' }]);
    // Over by now: the rest comes from the log.
    using after = resume(service, '?session=s&after=2&offset=7');
    expect(texts(await after.settled())).toEqual([{ content: 'world!' }]);
  });

  verifies('stream.switch', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    const sockets: ResumingSocket[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const answered = ask(service, `story ${turn}`);
      // One joins at each moment of the turn, as the event loop goes.
      for (let moment = 0; moment < 6; moment += 1) {
        const socket = resume(service);
        sockets.push(socket);
        await socket.until(({ length }) => length > 0);
      }
      await answered;
    }
    const log = await readLog(service, 's');
    checkTurns(log, 8);
    for (const socket of sockets) {
      const { events, pieces } = record(await socket.settled(8));
      expect(events).toEqual(log);
      expect(pieceFaults(pieces, log, prescribe)).toEqual([]);
      socket[Symbol.dispose]();
    }
  });

  verifies('stream.switch', 'for one who waited for a session that then began as a fork', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    using waiting = resume(service);
    expect(await waiting.until(({ length }) => length === 1)).toEqual([resumed(0, 0)]);
    await service.post('/api/message-sync', { message: 'story 0', sessionId: 'parent' });
    const fork = await service.post('/api/sessions/parent/fork', { sessionId: 's' });
    expect(fork.status).toBe(200);
    await ask(service, 'story 1');
    const { events, pieces } = record(await waiting.settled(2));
    expect(events).toEqual(await readLog(service, 's'));
    checkTurns(events, 2);
    expect(pieceFaults(pieces, events, prescribe)).toEqual([]);
    expect(events.map(({ event }) => event)).toContain('forked');
  });

  verifies('stream.own', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using socket = resume(service);
    await socket.until(({ length }) => length === 1);
    const message = { type: 'message', content: 'hello', clientMessageId: 'm1' };
    socket.send(message);
    const call = await model.call(0);
    const [, own] = await socket.until(({ length }) => length > 1);
    expect(own).toMatchObject({
      event: 'message',
      seq: 1,
      data: { content: 'hello', clientMessageId: 'm1' },
    });
    socket.send(message);
    const turnId = own?.turnId;
    await socket.until((frames) => frames.some(({ event }) => event === 'accepted'));
    expect(socket.frames.at(-1)).toEqual({ event: 'accepted', data: { clientMessageId: 'm1' }, turnId });
    socket.send({ ...message, content: 'other' });
    await socket.until((frames) => frames.some(({ event }) => event === 'error'));
    expect(socket.frames.at(-1)).toMatchObject({
      clientMessageId: 'm1',
      data: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    socket.send({ type: 'message', content: 5, clientMessageId: 'm2' });
    await socket.until((frames) => frames.filter(({ event }) => event === 'error').length === 2);
    expect(socket.frames.at(-1)).toMatchObject({ clientMessageId: 'm2', data: { code: 'INVALID_REQUEST' } });
    call.answer('Hi.');
    await socket.settled();
    socket.send(message);
    await socket.until((frames) => frames.filter(({ event }) => event === 'accepted').length === 2);
    expect(socket.frames.at(-1)).toEqual({
      event: 'accepted',
      data: { clientMessageId: 'm1', content: 'Hi.' },
      turnId,
    });
  });

  verifies('stream.cancel', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using socket = resume(service);
    await socket.until(({ length }) => length === 1);
    socket.send({ type: 'message', content: 'first' });
    socket.send({ type: 'message', content: 'second' });
    const call = await model.call(0);
    call.say('Half of ');
    await socket.until((frames) => frames.some(isChunk));
    socket.send({ type: 'cancel' });
    (await model.call(1)).answer('Whole.');
    await socket.settled(2);
    using late = resume(service);
    const { events } = record(await late.settled(2));
    expect(events).toEqual(record(socket.frames).events);
    const cancelled = events.find(({ event }) => event === 'error');
    expect(cancelled).toMatchObject({ data: { code: 'TURN_CANCELLED' } });
    expect(record(late.frames).textOf(cancelled?.turnId)).toBe('Half of ');
  });

  verifies('stream.slow', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using slow = await RawWebSocket.open(service.port, '/?session=s&after=0');
    using reader = resume(service);
    const log = await talkAtLength(service, model);
    await reader.settled(LONG_TURNS);
    const { texts } = await slow.readUntil(`"seq":${log.length}`);
    const frames = texts.map((text) => JSON.parse(text));
    expect(record(frames).events).toEqual(log);
    for (const [turn, told] of [...byTurn(log).values()].entries())
      checkTurn(told, { message: `turn ${turn}`, reply: longText(turn) });
    // It was caught up: what was streamed while it did not read came in fewer pieces than it was said in.
    expect(frames.filter(isChunk).length).toBeLessThan(reader.frames.filter(isChunk).length);
  });
});

/** Few and large: the service closes a socket of which nothing was read for 20 seconds. */
const LONG_TURNS = 20;
const longText = (turn: number): string => `${`${turn}`.repeat(400_000)}${'x'.repeat(200_000)}y`;

/** So much that no socket takes it at once: the client falls behind. */
async function talkAtLength(service: RunningService, model: DirectedModel): Promise<ResumableFrame[]> {
  for (let turn = 0; turn < LONG_TURNS; turn += 1) {
    const answered = ask(service, `turn ${turn}`);
    const call = await model.call(turn);
    call.say(`${turn}`.repeat(400_000));
    call.answer('x'.repeat(200_000), 'y');
    expect((await answered).status).toBe(200);
  }
  return readLog(service, 's');
}

describe('the events of a session over HTTP', () => {
  verifies('stream.page', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    await ask(service, 'hello');
    using socket = resume(service);
    const { events } = record(await socket.settled());
    const page = async (query: string) =>
      (await service.fetch(`/api/sessions/s/events${query}`)).json() as Promise<Record<string, unknown>>;
    const withTime = events.map((frame) => ({ ...frame, time: expect.stringMatching(/^\d{4}-.*Z$/) }));
    const head = events.length;
    const timestamp = expect.any(String);
    const whole = { sessionId: 's', after: 0, head, timestamp };
    expect(await page('')).toEqual({ ...whole, events: withTime });
    using timed = resume(service, '?session=s&after=0&time=1');
    const durable = (await timed.settled()).filter(({ seq }) => seq !== undefined);
    expect(await page('')).toMatchObject({ events: durable });
    expect(await page('?after=1&limit=2')).toEqual({ ...whole, after: 1, events: withTime.slice(1, 3) });
    expect(await page(`?after=${head}`)).toEqual({ ...whole, after: head, events: [] });
    for (const query of ['?after=x', '?limit=0', '?limit=1001', '?after=-1']) {
      expect((await service.fetch(`/api/sessions/s/events${query}`)).status, query).toBe(400);
    }
  });

  verifies('stream.sse', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const url = `${service.url}/api/sessions/s/events`;
    const answered = ask(service, 'hello');
    const call = await model.call(0);
    call.say('Hello, ');
    const first = await EventSourceStream.open(url);
    expect(first.response.headers.get('content-type')).toBe('text/event-stream');
    const seen = new StreamRecord();
    let lastEventId: string | undefined;
    for await (const { id, frame } of first) {
      if (id === undefined) expect(frame).toEqual(resumed(0, 2));
      seen.add(frame);
      lastEventId = id;
      if (seen.offset > 0) break;
    }
    expect(first.retryMs).toBe(1_000);
    expect(lastEventId).toBe('2.7');
    call.answer('world');
    await answered;
    for await (const { id, frame } of await EventSourceStream.open(url, lastEventId)) {
      if (id === undefined) expect(frame).toEqual(resumed(2, 4));
      seen.add(frame);
      if (seen.seq === 4) break;
    }
    expect(seen.events).toEqual(await readLog(service, 's'));
    expect(seen.textOf(seen.events[0]?.turnId)).toBe('Hello, world');
    for await (const { frame } of await EventSourceStream.open(`${url}?after=4`)) {
      expect(frame).toEqual(resumed(4, 4));
      break;
    }
  });
});
