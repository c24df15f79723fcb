import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import type { ModelMessage } from '../../../src/core/conversation/model-message.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { said } from '../../support/models/steps.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf } from '../../support/sessions/session-api.ts';
import { isSettling } from '../../support/sockets/websocket-client.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

/** Ends with what is open left open, as if the time to finish were over. */
const NO_DRAIN = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;

async function startDirected(yaml = NO_DRAIN, dataDir = ':memory:') {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml, dataDir, adapters: { model } });
  return { model, service };
}

const says = (...texts: string[]): ModelMessage[] =>
  texts.map((text, index) => (index % 2 === 0 ? { role: 'user', text } : said(text)));

describe('the session default', () => {
  verifies('session.default', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using client = await service.connect();
    const first = service.post('/api/message-sync', { message: 'one' });
    (await model.call(0)).answer('1');
    await first;
    await service.post('/api/message', { message: 'two', sessionId: 'default' });
    (await model.call(1)).answer('2');
    await client.settled(2);
    client.say('three');
    expect((await model.call(2)).request.messages).toEqual(says('one', '1', 'two', '2', 'three'));
    (await model.call(2)).answer('3');
    const frames = await client.settled(3);
    expect(frames.filter(isSettling).map(({ data }) => data)).toEqual([
      { content: '1' },
      { content: '2' },
      { content: '3' },
    ]);
  });
});

describe('a session of its own', () => {
  verifies('session.own', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const sessionId = 'alice@example.com:2024_a-b.c';
    using client = await service.connect(`?session=${encodeURIComponent(sessionId)}`);
    client.say('one');
    (await model.call(0)).answer('1');
    await client.settled();
    const sync = service.post('/api/message-sync', { message: 'two', sessionId });
    expect((await model.call(1)).request.messages).toEqual(says('one', '1', 'two'));
    (await model.call(1)).answer('2');
    expect(await (await sync).json()).toMatchObject({ response: '2' });
    await service.post('/api/message', { message: 'elsewhere' });
    expect((await model.call(2)).request.messages).toEqual(says('elsewhere'));
  });

  verifies('session.own', 'a reset clears that one alone', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    for (const [index, sessionId] of ['a', 'b'].entries()) {
      const sync = service.post('/api/message-sync', { message: `I am ${sessionId}`, sessionId });
      (await model.call(index)).answer('noted');
      await sync;
    }
    await service.post('/api/reset', { sessionId: 'a' });
    await service.post('/api/message', { message: 'who am I?', sessionId: 'a' });
    expect((await model.call(2)).request.messages).toEqual(says('who am I?'));
    await service.post('/api/message', { message: 'who am I?', sessionId: 'b' });
    expect((await model.call(3)).request.messages).toEqual(says('I am b', 'noted', 'who am I?'));
  });

  verifies('session.own', 'a name that cannot be one is refused over REST', async () => {
    await using service = await RunningService.start();
    for (const sessionId of ['', ' ', 'a b', 'a/b', '.hidden', 'ä', 'x'.repeat(129), 5, [], {}]) {
      for (const path of ['/api/message-sync', '/api/message', '/api/reset']) {
        const response = await service.post(path, { message: 'hi', sessionId });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          success: false,
          error: { code: 'INVALID_REQUEST', details: { field: 'sessionId', issue: expect.any(String) } },
        });
      }
    }
    expect(
      (await service.post('/api/message-sync', { message: 'hi', sessionId: 'x'.repeat(128) })).status,
    ).toBe(200);
  });

  verifies('session.own', 'a name that cannot be one is refused at the handshake', async () => {
    await using service = await RunningService.start();
    for (const session of ['', 'a%20b', 'a%2Fb', 'x'.repeat(129)]) {
      const response = await upgrade(service.port, `/?session=${session}`);
      expect(response.statusCode).toBe(400);
      expect(await json(response)).toEqual({
        success: false,
        error: {
          code: 'INVALID_REQUEST',
          message: expect.any(String),
          details: { field: 'session', issue: expect.any(String) },
        },
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
    }
  });
});

/** A handshake that is expected to be refused. */
async function upgrade(port: number, path: string): Promise<IncomingMessage> {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version': '13',
  };
  const request = httpRequest({ host: '127.0.0.1', port, path, headers }).end();
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('no response');
  return response;
}

describe('frames', () => {
  verifies('session.frames', async () => {
    await using service = await RunningService.start();
    using first = await service.connect('?session=a');
    using second = await service.connect('?session=a');
    using other = await service.connect('?session=b');
    using plain = await service.connect();
    first.say('for a');
    await first.settled();
    await service.post('/api/message-sync', { message: 'also for a', sessionId: 'a' });
    await Promise.all([first.settled(2), second.settled(2)]);
    expect(second.frames).toEqual(first.frames);
    // Whatever had gone astray would stand before their own.
    other.say('for b');
    plain.say('for default');
    const [ofOther, ofPlain] = await Promise.all([other.settled(), plain.settled()]);
    for (const frames of [ofOther, ofPlain]) {
      expect(frames.map(({ event }) => event)).toEqual([
        'thinking',
        ...frames.slice(1, -1).map(() => 'chunk'),
        'response',
      ]);
      expect(JSON.stringify(frames)).not.toContain('for a');
    }
  });

  verifies('session.frames', 'a refusal of a frame goes to its sender alone', async () => {
    await using service = await RunningService.start();
    using first = await service.connect();
    using second = await service.connect();
    first.send('no JSON');
    await first.settled();
    second.say('hello');
    const [, ofSecond] = await Promise.all([first.settled(2), second.settled()]);
    expect(first.frames[0]).toMatchObject({ event: 'error', data: { code: 'INVALID_REQUEST' } });
    expect(ofSecond).toEqual(first.frames.slice(1));
  });
});

describe('a busy session', () => {
  verifies('session.queue', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using client = await service.connect();
    client.say('one');
    await model.call(0);
    await service.post('/api/message', { message: 'two' });
    client.say('three');
    client.send({ type: 'no such type' });
    // The refusal is the answer to the frame behind `three`, which is in the queue by now.
    await client.settled();
    const four = service.post('/api/message-sync', { message: 'four' });
    const other = service.post('/api/message-sync', { message: 'elsewhere', sessionId: 'other' });
    (await model.callFor('elsewhere')).answer('at once');
    expect(await (await other).json()).toMatchObject({ response: 'at once' });
    for (const [index, text] of ['one', 'two', 'three', 'four'].entries()) {
      const call = await model.callFor(text);
      // Each begins when the one before is settled; one call was for the other session.
      expect(model.calls).toHaveLength(index + 2);
      call.answer(`answer to ${text}`);
    }
    expect(await (await four).json()).toMatchObject({ response: 'answer to four' });
    const frames = (await client.settled(5)).filter(({ event }) => event !== 'error');
    expect(frames).toEqual(
      ['one', 'two', 'three', 'four'].flatMap((text) => [
        { event: 'thinking', data: { message: expect.any(String) } },
        { event: 'chunk', data: { content: `answer to ${text}` } },
        { event: 'response', data: { content: `answer to ${text}` } },
      ]),
    );
  });

  verifies('session.queue', 'many messages sent at once are answered in order', async () => {
    await using service = await RunningService.start({
      yaml: `${SCRIPTED}limits: { messagesPerMinute: false, requestsPerMinute: false }\n`,
    });
    using client = await service.connect();
    const texts = Array.from({ length: 60 }, (_, index) => `message ${index}.`);
    for (const text of texts) client.say(text);
    const frames = await client.settled(texts.length);
    const answers = frames.flatMap((frame) => (frame.event === 'response' ? [frame.data.content] : []));
    expect(answers.map((answer) => answer.match(/message \d+\./)?.[0])).toEqual(texts);
  });

  verifies('session.queue-full', async () => {
    const { model, service } = await startDirected(`${NO_DRAIN}limits: { queuedMessages: 2 }\n`);
    await using _ = service;
    using client = await service.connect();
    for (const message of ['running', 'first', 'second']) await service.post('/api/message', { message });
    for (const path of ['/api/message', '/api/message-sync']) {
      const response = await service.post(path, { message: 'one too many' });
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(await response.json()).toEqual({
        success: false,
        error: {
          code: 'SERVICE_UNAVAILABLE',
          message: expect.any(String),
          details: { reason: expect.stringContaining('2'), limit: 2, retryAfter: expect.any(Number) },
        },
        timestamp: expect.any(String),
      });
    }
    client.say('one too many');
    await client.until((frames) => frames.some(isSettling));
    expect(client.frames.at(-1)).toMatchObject({
      event: 'error',
      data: { code: 'SERVICE_UNAVAILABLE', details: { limit: 2 } },
    });
    // Another session has room, and this one too as soon as a turn is over.
    expect((await service.post('/api/message', { message: 'x', sessionId: 'b' })).status).toBe(200);
    (await model.callFor('running')).answer('done');
    await model.callFor('first');
    expect((await service.post('/api/message', { message: 'third' })).status).toBe(200);
    for (const text of ['first', 'second', 'third']) (await model.callFor(text)).answer('done');
    await client.settled(5);
    expect(model.calls.map((call) => call.userText)).not.toContain('one too many');
  });
});

describe('the history', () => {
  verifies('session.history', async () => {
    const model = new DirectedModel();
    const mcpServers = { tools: scriptableServer() };
    const yaml = `${NO_DRAIN}systemPrompt: Be kind.\nmcpServers: ${JSON.stringify(mcpServers)}\n`;
    await using service = await RunningService.start({ yaml, adapters: { model } });
    const first = service.post('/api/message-sync', { message: 'say hi' });
    const call = await model.call(0);
    expect(call.request.systemPrompt).toBe('Be kind.');
    call.say('One moment.');
    call.askFor(
      { name: 'echo', callId: 'c1', arguments: { message: 'hi' } },
      { name: 'fail', callId: 'c2', arguments: { reason: 'no luck' } },
    );
    (await model.call(1)).answer('It said hi.');
    await first;
    await service.post('/api/message', { message: 'thanks' });
    const { messages } = (await model.call(2)).request;
    expect(messages.slice(0, 2)).toEqual([
      { role: 'user', text: 'say hi' },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'One moment.' },
          { type: 'toolCall', callId: 'c1', name: 'echo', arguments: { message: 'hi' } },
          { type: 'toolCall', callId: 'c2', name: 'fail', arguments: { reason: 'no luck' } },
        ],
      },
    ]);
    // In the order of the calls, whichever was settled first.
    expect(messages.slice(2, 4)).toEqual([
      { role: 'tool', callId: 'c1', name: 'echo', text: 'hi' },
      expect.objectContaining({ role: 'tool', callId: 'c2', text: expect.stringContaining('no luck') }),
    ]);
    expect(messages.slice(4)).toEqual([said('It said hi.'), { role: 'user', text: 'thanks' }]);
  });
});

/** What the log says of the session `default`, but for the messages: they come whenever they come. */
async function courseOf(service: RunningService): Promise<string[]> {
  const events = await eventsOf(service, 'default');
  return events.map(({ event }) => event).filter((event) => event !== 'message');
}

describe('a restart', () => {
  verifies('session.restart', async () => {
    await using directory = await tempDirectory();
    const image = { base64: 'iVBORw0KGgo=', mimeType: 'image/png' };
    {
      const { model, service } = await startDirected(NO_DRAIN, directory.path);
      await using _ = service;
      const sync = service.post('/api/message-sync', { message: 'look', imageData: image, sessionId: 'a' });
      (await model.call(0)).answer('A tiny picture.');
      expect((await sync).status).toBe(200);
    }
    const { model, service } = await startDirected(NO_DRAIN, directory.path);
    await using _ = service;
    await service.post('/api/message', { message: 'what was it?', sessionId: 'a' });
    expect((await model.call(0)).request.messages).toEqual([
      { role: 'user', text: 'look', images: [image] },
      said('A tiny picture.'),
      { role: 'user', text: 'what was it?' },
    ]);
    await service.post('/api/message', { message: 'hello' });
    expect((await model.call(1)).request.messages).toEqual(says('hello'));
  });

  verifies('session.restart', 'and so does a reset', async () => {
    await using directory = await tempDirectory();
    {
      const { model, service } = await startDirected(NO_DRAIN, directory.path);
      await using _ = service;
      await service.post('/api/message', { message: 'one' });
      (await model.call(0)).answer('1');
      await service.post('/api/message', { message: 'reset me' });
      (await model.call(1)).answer('2');
      await service.post('/api/reset');
    }
    const { model, service } = await startDirected(NO_DRAIN, directory.path);
    await using _ = service;
    await service.post('/api/message', { message: 'hello' });
    expect((await model.call(0)).request.messages).toEqual(says('hello'));
  });

  verifies(
    'session.restart',
    'a turn that was cut off, and those that waited, are answered before the next message',
    async () => {
      await using directory = await tempDirectory();
      {
        const { model, service } = await startDirected(NO_DRAIN, directory.path);
        await using _ = service;
        await service.post('/api/message', { message: 'one' });
        await service.post('/api/message', { message: 'two' });
        (await model.call(0)).say('cut o');
      }
      const { model, service } = await startDirected(NO_DRAIN, directory.path);
      await using _ = service;
      using client = await service.connect();
      client.say('three');
      for (const [index, text] of ['one', 'two', 'three'].entries()) {
        const call = await model.call(index);
        expect(call.userText).toBe(text);
        call.answer(`answer to ${text}`);
      }
      const frames = await client.settled(3);
      // The first turn goes on as soon as the service is there, which may be before the client is.
      expect(frames.filter(({ event }) => event !== 'thinking')).toEqual(
        ['one', 'two', 'three'].flatMap((text) => [
          { event: 'chunk', data: { content: `answer to ${text}` } },
          { event: 'response', data: { content: `answer to ${text}` } },
        ]),
      );
      expect(await courseOf(service)).toEqual([
        ...['thinking', 'turnResumed', 'stepCompleted', 'response'],
        ...['thinking', 'stepCompleted', 'response'],
        ...['thinking', 'stepCompleted', 'response'],
      ]);
    },
  );

  verifies(
    'session.restart',
    'tool calls that were settled are not run again, and the rest is told to the model',
    async () => {
      await using directory = await tempDirectory();
      const yaml = `${NO_DRAIN}mcpServers: ${JSON.stringify({ tools: scriptableServer() })}\n`;
      {
        const { model, service } = await startDirected(yaml, directory.path);
        await using _ = service;
        using client = await service.connect();
        client.say('work');
        (await model.call(0)).askFor(
          { name: 'echo', callId: 'quick', arguments: { message: 'hi' } },
          { name: 'slow', callId: 'slow', arguments: { ms: 60_000 } },
        );
        await client.until((frames) => frames.some(({ event }) => event === 'toolResult'));
      }
      const { model, service } = await startDirected(yaml, directory.path);
      await using _ = service;
      using client = await service.connect();
      client.say('next');
      const { messages } = (await model.call(0)).request;
      expect(messages.slice(2)).toEqual([
        { role: 'tool', callId: 'quick', name: 'echo', text: 'hi' },
        { role: 'tool', callId: 'slow', name: 'slow', text: expect.stringMatching(/interrupted/) },
      ]);
      (await model.call(0)).answer('Only half of it is done.');
      (await model.call(1)).answer('ok');
      await client.settled(2);
      expect(await courseOf(service)).toEqual([
        ...['thinking', 'stepCompleted', 'toolCall', 'toolCall', 'toolResult'],
        ...['turnResumed', 'toolResult', 'stepCompleted', 'response'],
        ...['thinking', 'stepCompleted', 'response'],
      ]);
      const results = (await eventsOf(service, 'default')).filter(({ event }) => event === 'toolResult');
      expect(results).toMatchObject([
        { data: { callId: 'quick', result: expect.anything() } },
        { data: { callId: 'slow', error: expect.any(String) } },
      ]);
    },
  );
});
