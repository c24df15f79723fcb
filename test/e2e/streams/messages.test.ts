import { describe, expect } from 'vitest';
import { errorReply, OpenAiUpstream, textReply } from '../../support/models/openai-upstream.ts';
import { errorOf, Timestamp } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const KEY = 'sk-e2e-4f8a1c77d2';
/** The smallest PNG: one transparent pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const isTimestamp = expect.toSatisfy((value) => Timestamp.safeParse(value).success);

/** An agent whose model is the upstream. YAML takes JSON as it is. */
function agentOf(upstream: OpenAiUpstream, more: object = {}): string {
  const llm = { provider: 'openai-compatible', model: 'test', apiKey: KEY, baseURL: upstream.baseURL };
  return JSON.stringify({ llm, systemPrompt: 'the system prompt', ...more });
}

describe('POST /api/message-sync', () => {
  verifies('message-sync.reply', async () => {
    await using service = await RunningService.start();
    const response = await service.post('/api/message-sync', { message: 'Grüße, 世界 👋' });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(await response.json()).toEqual({
      success: true,
      response: expect.stringContaining('You said: Grüße, 世界 👋'),
      timestamp: isTimestamp,
    });
  });

  verifies('message-sync.reply', 'each of many at once gets its own reply', async () => {
    await using service = await RunningService.start();
    const bodies = Array.from({ length: 10 }, (_, index) => ({
      message: `number ${index}.`,
      ...(index % 2 && { sessionId: `odd-${index}` }),
    }));
    const answers = await Promise.all(bodies.map((body) => service.post('/api/message-sync', body)));
    const replies = await Promise.all(answers.map((answer) => answer.json()));
    expect(replies).toEqual(
      bodies.map(({ message }) =>
        expect.objectContaining({ response: expect.stringContaining(`You said: ${message}`) }),
      ),
    );
  });

  verifies('message-sync.image', async () => {
    await using upstream = await OpenAiUpstream.listen();
    upstream.replyWith(textReply('a pixel'));
    await using service = await RunningService.start({ yaml: agentOf(upstream) });
    const imageData = { base64: PNG, mimeType: 'image/png' };
    const response = await service.post('/api/message-sync', { message: 'what is this?', imageData });
    expect(await response.json()).toMatchObject({ success: true, response: 'a pixel' });
    const { body } = await upstream.request(0);
    expect(body.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'what is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
    });
  });

  verifies('message-sync.image', 'whose first bytes say what it is', async () => {
    await using upstream = await OpenAiUpstream.listen();
    upstream.replyWith(textReply('a pixel'));
    await using service = await RunningService.start({ yaml: agentOf(upstream) });
    const asked = { message: 'what is this?', imageData: { base64: PNG } };
    expect((await service.post('/api/message-sync', asked)).status).toBe(200);
    const { body } = await upstream.request(0);
    expect(JSON.stringify(body.messages.at(-1))).toContain(`data:image/png;base64,${PNG}`);
  });

  const badImages = [
    ['text that is no base64', { base64: 'not base64!', mimeType: 'image/png' }, 'imageData.base64'],
    ['base64 that is cut', { base64: PNG.slice(0, -3), mimeType: 'image/png' }, 'imageData.base64'],
    ['a data: URL', { base64: `data:image/png;base64,${PNG}`, mimeType: 'image/png' }, 'imageData.base64'],
    ['an empty image', { base64: '', mimeType: 'image/png' }, 'imageData.base64'],
    ['a page', { base64: PNG, mimeType: 'text/html' }, 'imageData.mimeType'],
    ['a drawing that may hold a script', { base64: PNG, mimeType: 'image/svg+xml' }, 'imageData.mimeType'],
    ['a text in place of an object', PNG, 'imageData'],
  ] as const;
  for (const [what, imageData, field] of badImages) {
    verifies('message-sync.image-invalid', what, async () => {
      await using service = await RunningService.start();
      const response = await service.post('/api/message-sync', { message: 'look', imageData });
      expect(await errorOf(response, 400)).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field, issue: expect.stringMatching(/./) },
      });
    });
  }

  verifies(
    'message-sync.image-invalid',
    'an image without a type, whose first bytes are those of none',
    async () => {
      await using service = await RunningService.start();
      const response = await service.post('/api/message-sync', {
        message: 'look',
        imageData: { base64: 'AAAA' },
      });
      expect(await errorOf(response, 400)).toMatchObject({
        code: 'MISSING_FIELD',
        details: { field: 'imageData.mimeType' },
      });
    },
  );

  verifies('message-sync.image-invalid', 'too large', async () => {
    await using service = await RunningService.start();
    const imageData = { base64: 'A'.repeat(14 * 1024 * 1024), mimeType: 'image/png' };
    const response = await service.post('/api/message-sync', { message: 'look', imageData });
    expect(await errorOf(response, 429)).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 10 * 1024 * 1024, remaining: 0, resetTime: expect.any(Number) },
    });
  });

  verifies('message-sync.missing', async () => {
    await using service = await RunningService.start();
    for (const body of [{}, { content: 'the word of the WebSocket' }, { sessionId: 'a' }]) {
      const error = await errorOf(await service.post('/api/message-sync', body), 400);
      expect(error).toMatchObject({ code: 'MISSING_FIELD', details: { field: 'message' } });
    }
  });

  verifies('message-sync.invalid', async () => {
    await using service = await RunningService.start();
    for (const message of ['', 5, null, true, ['hello'], { text: 'hello' }]) {
      const error = await errorOf(await service.post('/api/message-sync', { message }), 400);
      expect(error).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: 'message', issue: expect.stringMatching(/./) },
      });
    }
  });

  const failures = [
    ['a key that is refused', errorReply(401, { message: `Incorrect API key provided: ${KEY}` })],
    ['an outage', errorReply(503, { message: 'the prompt was: tell-nobody', retryAfterMs: 1 })],
    ['a connection that breaks', { hangUp: true }],
    ['a stream that is cut', { stream: [{ text: 'half an ans' }, { cut: true }] }],
  ] as const;
  for (const [what, reply] of failures) {
    verifies('message-sync.failed', what, async () => {
      await using upstream = await OpenAiUpstream.listen();
      upstream.otherwise = () => reply;
      await using service = await RunningService.start({ yaml: agentOf(upstream) });
      const response = await service.post('/api/message-sync', { message: 'tell-nobody' });
      const error = await errorOf(response, 500);
      expect(error).toMatchObject({
        code: 'AGENT_ERROR',
        details: { reason: expect.stringMatching(/\w+ \w+/) },
      });
      expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
      for (const secret of [KEY, 'tell-nobody', 'the system prompt'])
        expect(JSON.stringify(error)).not.toContain(secret);
    });
  }

  verifies('message-sync.failed', 'the next message is answered all the same', async () => {
    await using upstream = await OpenAiUpstream.listen();
    upstream.replyWith(errorReply(400, { message: 'no' }), textReply('better now'));
    await using service = await RunningService.start({ yaml: agentOf(upstream) });
    await errorOf(await service.post('/api/message-sync', { message: 'first' }), 500);
    const second = await service.post('/api/message-sync', { message: 'second' });
    expect(await second.json()).toMatchObject({ success: true, response: 'better now' });
  });
});

describe('POST /api/message', () => {
  verifies('message.processing', async () => {
    await using service = await RunningService.start();
    using client = await service.connect();
    const response = await service.post('/api/message', { message: 'to be told' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'processing', timestamp: isTimestamp });
    const frames = await client.settled();
    expect(frames[0]?.event).toBe('thinking');
    expect(frames.at(-1)).toEqual({
      event: 'response',
      data: { content: expect.stringContaining('You said: to be told') },
    });
  });

  verifies('message.processing', 'it does not wait for the model', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({ stream: [{ gate: gate.promise }, { text: 'late' }, { finish: 'stop' }] });
    await using service = await RunningService.start({ yaml: agentOf(upstream) });
    using client = await service.connect();
    const response = await service.post('/api/message', { message: 'take your time' });
    expect(await response.json()).toMatchObject({ status: 'processing' });
    gate.resolve();
    expect((await client.settled()).at(-1)).toEqual({ event: 'response', data: { content: 'late' } });
  });

  verifies('message.processing', 'an image is refused rather than dropped', async () => {
    await using service = await RunningService.start();
    const imageData = { base64: PNG, mimeType: 'image/png' };
    const response = await service.post('/api/message', { message: 'look', imageData });
    expect(await errorOf(response, 400)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'imageData' },
    });
  });

  verifies('message.missing', async () => {
    await using service = await RunningService.start();
    expect(await errorOf(await service.post('/api/message', {}), 400)).toMatchObject({
      code: 'MISSING_FIELD',
      details: { field: 'message' },
    });
    expect(await errorOf(await service.post('/api/message', { message: '' }), 400)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'message' },
    });
  });
});

describe('POST /api/reset', () => {
  const bodies: [string, RequestInit][] = [
    ['without a body', {}],
    ['with {}', { body: '{}', headers: { 'Content-Type': 'application/json' } }],
    ['with a Content-Type and nothing else', { headers: { 'Content-Type': 'application/json' } }],
  ];
  for (const [what, init] of bodies) {
    verifies('reset.initiated', what, async () => {
      await using upstream = await OpenAiUpstream.listen();
      await using service = await RunningService.start({ yaml: agentOf(upstream) });
      await service.post('/api/message-sync', { message: 'before' });
      const response = await service.fetch('/api/reset', { method: 'POST', ...init });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'reset initiated', timestamp: isTimestamp });
      await service.post('/api/message-sync', { message: 'after' });
      const { body } = await upstream.request(1);
      expect(body.messages).toEqual([
        { role: 'system', content: 'the system prompt' },
        { role: 'user', content: 'after' },
      ]);
    });
  }

  verifies('reset.initiated', 'the session that is named, and no other', async () => {
    await using upstream = await OpenAiUpstream.listen();
    await using service = await RunningService.start({ yaml: agentOf(upstream) });
    await service.post('/api/message-sync', { message: 'kept' });
    await service.post('/api/reset', { sessionId: 'another' });
    await service.post('/api/message-sync', { message: 'after' });
    const { body } = await upstream.request(1);
    expect(body.messages.map(({ content }) => content)).toEqual(['the system prompt', 'kept', 'ok', 'after']);
  });

  verifies('reset.running', async () => {
    await using upstream = await OpenAiUpstream.listen();
    upstream.replyWith({ stream: [{ text: 'a never ending' }, { hang: true }] });
    await using service = await RunningService.start({ yaml: agentOf(upstream) });
    using client = await service.connect();
    const running = service.post('/api/message-sync', { message: 'talk for ever' });
    await client.until((frames) => frames.some(({ event }) => event === 'chunk'));

    const reset = await service.post('/api/reset');
    expect(await reset.json()).toMatchObject({ status: 'reset initiated' });
    await (await upstream.request(0)).aborted;
    expect((await errorOf(await running, 409)).code).toBe('TURN_CANCELLED');
    expect((await client.settled()).at(-1)).toMatchObject({
      event: 'error',
      data: { code: 'TURN_CANCELLED', details: { reason: expect.any(String) } },
    });

    await service.post('/api/message-sync', { message: 'fresh' });
    const { body } = await upstream.request(1);
    expect(body.messages.map(({ content }) => content)).toEqual(['the system prompt', 'fresh']);
  });
});
