import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import type { ServerFrame } from '../../../src/wire/frames.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { textOf } from '../../support/models/steps.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { isSettling } from '../../support/sockets/websocket-client.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

/** JSON is YAML. */
const withServers = (servers: object): string => `${SCRIPTED}mcpServers: ${JSON.stringify(servers)}\n`;
const WITH_TOOLS = withServers({ tools: scriptableServer() });
const NO_DRAIN = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;

const thinking = { event: 'thinking', data: { message: expect.any(String) } };
const chunk = (content: string) => ({ event: 'chunk', data: { content } });
const response = (content: string) => ({ event: 'response', data: { content } });

const contents = (frames: readonly ServerFrame[], event: 'chunk' | 'response'): string =>
  frames.flatMap((frame) => (frame.event === event ? [frame.data.content] : [])).join('');

async function startDirected(yaml: string) {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml, adapters: { model } });
  return { model, service };
}

describe('the frames of a turn', () => {
  verifies('ws.order', async () => {
    await using service = await RunningService.start({ yaml: WITH_TOOLS });
    using client = await service.connect();
    client.say('use echo {"message":"hi"}');
    const first = [...(await client.settled())];
    const events = first.map(({ event }) => event);
    expect(events.join(' ')).toMatch(/^thinking( chunk)+ toolCall toolResult( chunk)+ response$/);
    client.say('hello');
    const second = (await client.settled(2)).slice(first.length);
    expect(second.map(({ event }) => event).join(' ')).toMatch(/^thinking( chunk)+ response$/);
  });

  verifies('ws.order', 'of calls that run at the same time each result comes after its call', async () => {
    const { model, service } = await startDirected(WITH_TOOLS);
    await using _ = service;
    using client = await service.connect();
    client.say('do both');
    await client.until((frames) => frames.length === 1);
    expect(client.frames).toEqual([thinking]);
    (await model.call(0)).askFor(
      { name: 'slow', callId: 'a', arguments: { ms: 30 } },
      { name: 'echo', callId: 'b', arguments: { message: 'hi' } },
    );
    (await model.call(1)).answer('Done.');
    const frames = await client.settled();
    const order = frames.map(({ event, data }) => ('callId' in data ? `${event} ${data.callId}` : event));
    expect(order).toEqual([
      ...['thinking', 'toolCall a', 'toolCall b', 'toolResult b', 'toolResult a'],
      ...['chunk', 'response'],
    ]);
  });

  verifies('ws.order', 'also when the message came by POST /api/message', async () => {
    await using service = await RunningService.start({ yaml: WITH_TOOLS });
    using client = await service.connect();
    await service.post('/api/message', { message: 'use echo {"message":"over REST"}' });
    const events = (await client.settled()).map(({ event }) => event).join(' ');
    expect(events).toMatch(/^thinking( chunk)+ toolCall toolResult( chunk)+ response$/);
  });

  verifies('ws.chunks', async () => {
    const { model, service } = await startDirected(WITH_TOOLS);
    await using _ = service;
    using client = await service.connect();
    const sync = service.post('/api/message-sync', { message: 'go' });
    const first = await model.call(0);
    first.say('Let me ', 'see 👩‍🚀', '\n');
    first.askFor({ name: 'echo', arguments: { message: '1' } });
    (await model.call(1)).askFor({ name: 'echo', arguments: { message: '2' } });
    const last = await model.call(2);
    last.say(' ');
    last.say('"Seen" — ');
    last.answer('all of it.');
    const frames = await client.settled();
    const reply = 'Let me see 👩‍🚀\n\n\n "Seen" — all of it.';
    expect(contents(frames, 'chunk')).toBe(reply);
    expect(contents(frames, 'response')).toBe(reply);
    expect(await (await sync).json()).toMatchObject({ success: true, response: reply });
    // The separator belongs to the reply, so it is a chunk of its own, after the tools have answered.
    expect(frames.at(-5)).toEqual(chunk('\n\n'));
  });

  verifies('ws.chunks', 'the same words over REST and WebSocket', async () => {
    await using service = await RunningService.start({ yaml: WITH_TOOLS });
    using client = await service.connect();
    const message = 'use echo {"message":"the very same words"}';
    client.say(message);
    const frames = await client.settled();
    const sync = await service.post('/api/message-sync', { message, sessionId: 'other' });
    expect(contents(frames, 'response')).toContain('the very same words');
    expect(contents(frames, 'chunk')).toBe(contents(frames, 'response'));
    expect(await sync.json()).toMatchObject({ response: contents(frames, 'response') });
  });

  verifies('ws.chunks', 'a chunk goes out as soon as the model has said it', async () => {
    const { model, service } = await startDirected(NO_DRAIN);
    await using _ = service;
    using client = await service.connect();
    client.say('go');
    const call = await model.call(0);
    call.say('first');
    await client.until((frames) => frames.length === 2);
    expect(client.frames).toEqual([thinking, chunk('first')]);
    call.answer(' second');
    expect((await client.settled()).slice(2)).toEqual([chunk(' second'), response('first second')]);
  });
});

describe('tool frames', () => {
  verifies('ws.tools', async () => {
    const { model, service } = await startDirected(WITH_TOOLS);
    await using _ = service;
    using client = await service.connect();
    client.say('go');
    (await model.call(0)).askFor(
      { name: 'add', callId: 'sum', arguments: { a: 1, b: 2 } },
      { name: 'fail', callId: 'fails', arguments: { reason: 'no luck' } },
    );
    (await model.call(1)).askFor({ name: 'crash', callId: 'crashes', arguments: { code: 3 } });
    (await model.call(2)).answer('ok');
    const frames = await client.settled();
    const sum = { callId: 'sum', toolName: 'add', serverId: 'tools' };
    const fails = { callId: 'fails', toolName: 'fail', serverId: 'tools' };
    const crashes = { callId: 'crashes', toolName: 'crash', serverId: 'tools' };
    expect(frames.slice(1, 3)).toEqual([
      { event: 'toolCall', data: { ...sum, arguments: { a: 1, b: 2 } } },
      { event: 'toolCall', data: { ...fails, arguments: { reason: 'no luck' } } },
    ]);
    expect(frames.slice(3, 5)).toContainEqual({
      event: 'toolResult',
      data: { ...sum, result: { content: [{ type: 'text', text: '3' }], structuredContent: { sum: 3 } } },
    });
    expect(frames.slice(3, 5)).toContainEqual({
      event: 'toolResult',
      data: { ...fails, error: expect.stringContaining('no luck') },
    });
    expect(frames.slice(5, 7)).toEqual([
      { event: 'toolCall', data: { ...crashes, arguments: { code: 3 } } },
      { event: 'toolResult', data: { ...crashes, error: expect.stringContaining('exited with code 3') } },
    ]);
  });

  verifies(
    'ws.tools',
    'the tool has its own name and server, and a call that cannot be run has an error',
    async () => {
      const { model, service } = await startDirected(
        withServers({ one: scriptableServer(), two: scriptableServer() }),
      );
      await using _ = service;
      using client = await service.connect();
      client.say('go');
      (await model.call(0)).askFor(
        { name: 'two__echo', callId: 'c1', arguments: { message: 'hi' } },
        { name: 'fly', callId: 'c2' },
        { name: 'one__echo', callId: 'c3', arguments: { massage: 'hi' } },
      );
      (await model.call(1)).answer('ok');
      const frames = await client.settled();
      const echo = { callId: 'c1', toolName: 'echo', serverId: 'two' };
      const unknown = { callId: 'c2', toolName: 'fly', serverId: null };
      expect(frames).toContainEqual({ event: 'toolCall', data: { ...echo, arguments: { message: 'hi' } } });
      expect(frames).toContainEqual({
        event: 'toolResult',
        data: { ...echo, result: { content: [{ type: 'text', text: 'hi' }] } },
      });
      expect(frames).toContainEqual({ event: 'toolCall', data: { ...unknown, arguments: {} } });
      expect(frames).toContainEqual({
        event: 'toolResult',
        data: { ...unknown, error: expect.stringContaining('no such tool') },
      });
      expect(frames).toContainEqual({
        event: 'toolResult',
        data: {
          callId: 'c3',
          toolName: 'echo',
          serverId: 'one',
          error: expect.stringContaining('message'),
        },
      });
    },
  );
});

describe('an image', () => {
  verifies('ws.image', async () => {
    const { model, service } = await startDirected(NO_DRAIN);
    await using _ = service;
    using client = await service.connect();
    const imageData = { base64: 'iVBORw0KGgo=', mimeType: 'image/png' };
    client.say('what is this?', { imageData });
    expect((await model.call(0)).request.messages).toEqual([
      { role: 'user', text: 'what is this?', images: [imageData] },
    ]);
    (await model.call(0)).answer('A picture.');
    expect((await client.settled()).at(-1)).toEqual(response('A picture.'));
  });

  verifies('ws.image', 'of each type that models take', async () => {
    const { model, service } = await startDirected(NO_DRAIN);
    await using _ = service;
    using client = await service.connect();
    for (const [index, mimeType] of ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].entries()) {
      client.say('look', { imageData: { base64: 'AAAA', mimeType } });
      const call = await model.call(index);
      expect(call.request.messages.at(-1)).toMatchObject({ images: [{ mimeType }] });
      call.answer('seen');
    }
    await client.settled(4);
    expect(client.frames.some(({ event }) => event === 'error')).toBe(false);
  });
});

describe('a reset frame', () => {
  verifies('ws.reset', async () => {
    const { model, service } = await startDirected(NO_DRAIN);
    await using _ = service;
    using client = await service.connect();
    client.say('remember me');
    (await model.call(0)).answer('I do.');
    await client.settled();
    client.send({ type: 'reset' });
    client.say('who am I?');
    const call = await model.call(1);
    expect(call.request.messages).toEqual([{ role: 'user', text: 'who am I?' }]);
    call.answer('Somebody.');
    await client.settled(2);
    expect(client.frames.slice(3)).toEqual([thinking, chunk('Somebody.'), response('Somebody.')]);
  });

  verifies(
    'ws.reset',
    'while turns run and wait, it cancels them, and nothing of them is streamed afterwards',
    async () => {
      const { model, service } = await startDirected(NO_DRAIN);
      await using _ = service;
      using client = await service.connect();
      using watcher = await service.connect();
      client.say('tell me a story');
      client.say('and another');
      const call = await model.call(0);
      call.say('Once upon ');
      client.send({ type: 'reset' });
      client.say('hello');
      await call.aborted;
      call.say('a time');
      (await model.call(1)).answer('Hi.');
      const cancelled = {
        event: 'error',
        data: {
          code: 'TURN_CANCELLED',
          message: expect.any(String),
          details: { reason: expect.stringContaining('reset') },
        },
      };
      await client.settled(3);
      expect(client.frames).toEqual([
        ...[thinking, chunk('Once upon '), cancelled, cancelled],
        ...[thinking, chunk('Hi.'), response('Hi.')],
      ]);
      expect(await watcher.settled(3)).toEqual(client.frames);
      expect((await model.call(1)).request.messages).toEqual([{ role: 'user', text: 'hello' }]);
    },
  );
});

describe('a failing turn', () => {
  verifies('ws.error', async () => {
    const script = [{ when: 'boom', reply: 'Half a ', fail: 'the script says so' }];
    const yaml = `llm: { provider: scripted, model: offline, script: ${JSON.stringify(script)} }\n`;
    await using service = await RunningService.start({ yaml });
    using client = await service.connect();
    using watcher = await service.connect();
    client.say('boom');
    const frames = await client.settled();
    expect(frames.at(-1)).toEqual({
      event: 'error',
      data: {
        code: 'AGENT_ERROR',
        message: expect.stringMatching(/\w/),
        details: { reason: 'the script says so', provider: 'scripted' },
      },
    });
    expect(frames.filter(isSettling)).toHaveLength(1);
    client.say('hello');
    expect((await client.settled(2)).at(-1)?.event).toBe('response');
    expect(await watcher.settled(2)).toEqual(client.frames);
  });
});

describe('a log that cannot be written', () => {
  const internalError = {
    event: 'error',
    data: { code: 'INTERNAL_ERROR', message: expect.any(String), details: {} },
  };

  verifies(
    'ws.error',
    'a message that could not be recorded is one error, for its sender, and the socket stays',
    async () => {
      const store = new WatchedStore(memoryEventStore());
      const log = recordingLog();
      await using service = await RunningService.start({ adapters: { store }, log });
      using client = await service.connect();
      using watcher = await service.connect();
      store.refuseNext('turn.requested', new Error('disk full'));
      client.say('lost');
      expect(await client.settled()).toEqual([internalError]);
      client.say('hello');
      await Promise.all([client.settled(2), watcher.settled()]);
      expect(client.frames.filter(isSettling)).toEqual([
        internalError,
        response(contents(client.frames, 'chunk')),
      ]);
      expect(watcher.frames).toEqual(client.frames.slice(1));
      expect(log.lines.some(({ level }) => level === 'error')).toBe(true);
    },
  );

  verifies(
    'ws.error',
    'a reply that a full disk keeps from being recorded is an error, no refusal of its message, and is asked for again at the next one',
    async () => {
      const store = new WatchedStore(memoryEventStore());
      const model = new DirectedModel();
      await using service = await RunningService.start({ yaml: NO_DRAIN, adapters: { store, model } });
      using client = await service.connect();
      const sync = service.post('/api/message-sync', { message: 'hello' });
      const call = await model.call(0);
      store.refuseNext('step.completed', new StorageFullError('disk full'));
      call.answer('never seen');
      expect((await client.settled()).filter(isSettling)).toMatchObject([
        { event: 'error', data: { code: 'INTERNAL_ERROR', details: { continues: true } } },
      ]);
      const answer = await sync;
      expect(answer.status).toBe(500);
      // The message is in the log: whoever sent it again would have it answered twice.
      expect(answer.headers.get('Retry-After')).toBeNull();
      expect(await answer.json()).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
      client.say('again');
      (await model.call(1)).answer('Hello.');
      (await model.call(2)).answer('Again.');
      const frames = await client.settled(3);
      expect(frames.slice(3)).toEqual([
        // It has the beginning of the turn, and a text that was longer.
        response('Hello.'),
        ...[thinking, chunk('Again.'), response('Again.')],
      ]);
    },
  );
});

describe('a client that goes away', () => {
  verifies('ws.gone', async () => {
    const { model, service } = await startDirected(NO_DRAIN);
    await using _ = service;
    using watcher = await service.connect();
    const client = await service.connect();
    client.say('go on without me');
    const call = await model.call(0);
    call.say('I ');
    await client.until((frames) => frames.length === 2);
    client.close();
    await client.closed;
    expect(call.signal.aborted).toBe(false);
    call.answer('will.');
    expect((await watcher.settled()).at(-1)).toEqual(response('I will.'));
  });

  verifies('ws.gone', 'the last one of its session, with messages still waiting', async () => {
    const { model, service } = await startDirected(NO_DRAIN);
    await using _ = service;
    const client = await service.connect();
    client.say('one');
    client.say('two');
    client.close();
    await client.closed;
    (await model.callFor('one')).answer('1');
    (await model.callFor('two')).answer('2');
    using again = await service.connect();
    again.say('three');
    const call = await model.callFor('three');
    expect(call.request.messages.map(textOf)).toEqual(['one', '1', 'two', '2', 'three']);
    call.answer('3');
    expect((await again.until((frames) => frames.some(isThree))).at(-1)).toEqual(response('3'));
  });
});

const isThree = (frame: ServerFrame): boolean => frame.event === 'response' && frame.data.content === '3';
