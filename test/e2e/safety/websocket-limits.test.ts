import { describe, expect } from 'vitest';
import type { ServerFrame } from '../../../src/wire/frames.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { verifies } from '../requirements.ts';

const MEGABYTE = 1024 * 1024;
const UNLIMITED_MESSAGES = `${SCRIPTED}limits: { messagesPerMinute: false }\n`;
const NO_DRAIN = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;

const errorFrame = (code: string, details: unknown) => ({
  event: 'error',
  data: { code, message: expect.stringMatching(/\w/), details },
});

/** Sends each frame, expects its error, and shows at the end that the socket is as good as new. */
async function expectRefusals(cases: readonly (readonly [string | Uint8Array | object, unknown])[]) {
  await using service = await RunningService.start({ yaml: UNLIMITED_MESSAGES });
  using client = await service.connect();
  for (const [index, [frame, expected]] of cases.entries()) {
    client.send(frame);
    const frames = await client.until(({ length }) => length > index);
    expect(frames[index], `the answer to ${JSON.stringify(frame)}`).toEqual(expected);
  }
  client.say('hello');
  const frames = await client.until((all) => all.at(-1)?.event === 'response');
  expect(frames.slice(cases.length).map(({ event }) => event)).not.toContain('error');
}

describe('frames that cannot be understood', () => {
  const notJson = errorFrame('INVALID_REQUEST', {
    field: 'frame',
    issue: expect.any(String),
    suggestion: expect.any(String),
  });
  const notAnObject = (found: string) =>
    errorFrame('INVALID_REQUEST', {
      field: 'frame',
      issue: expect.stringContaining(found),
      suggestion: expect.any(String),
    });
  const missing = (field: string, more: object = {}) =>
    errorFrame('MISSING_FIELD', { field, suggestion: expect.any(String), ...more });
  const invalid = (field: string) => errorFrame('INVALID_REQUEST', { field, issue: expect.any(String) });
  const image = (imageData: unknown) => ({ type: 'message', content: 'look', imageData });

  verifies('ws.bad-frame', () =>
    expectRefusals([
      ['hello', notJson],
      ['', notJson],
      ['{"type":"message","content":"hi"', notJson],
      ["{'type':'message'}", notJson],
      [`${'['.repeat(100_000)}`, notJson],
      ['[]', notAnObject('array')],
      ['null', notAnObject('null')],
      ['5', notAnObject('number')],
      ['"message"', notAnObject('string')],
      [
        new Uint8Array([1, 2, 3]),
        errorFrame('INVALID_REQUEST', {
          issue: expect.stringContaining('binary'),
          suggestion: expect.any(String),
        }),
      ],
      [
        Buffer.from('{"type":"message","content":"hi"}'),
        errorFrame('INVALID_REQUEST', expect.objectContaining({ issue: expect.stringContaining('binary') })),
      ],
    ]),
  );

  verifies('ws.bad-frame', 'without a content that is text', () =>
    expectRefusals([
      [{ type: 'message' }, missing('content')],
      [{ type: 'message', message: 'the field of REST' }, missing('content')],
      [{ type: 'message', content: null }, invalid('content')],
      [{ type: 'message', content: 5 }, invalid('content')],
      [{ type: 'message', content: ['hi'] }, invalid('content')],
      [{ type: 'message', content: '' }, invalid('content')],
    ]),
  );

  verifies('ws.bad-frame', 'with bad imageData', () =>
    expectRefusals([
      [image('iVBORw0KGgo='), invalid('imageData')],
      [image([]), invalid('imageData')],
      [image({ mimeType: 'image/png' }), missing('imageData.base64')],
      [
        image({ base64: 'AAAA' }),
        missing('imageData.mimeType', { issue: expect.stringContaining('first bytes') }),
      ],
      [image({ base64: '', mimeType: 'image/png' }), invalid('imageData.base64')],
      [image({ base64: 'no base64!', mimeType: 'image/png' }), invalid('imageData.base64')],
      [image({ base64: 'AAA', mimeType: 'image/png' }), invalid('imageData.base64')],
      [image({ base64: 'AAAA\n', mimeType: 'image/png' }), invalid('imageData.base64')],
      [image({ base64: 'data:image/png;base64,AAAA', mimeType: 'image/png' }), invalid('imageData.base64')],
      [image({ base64: 'AAAA', mimeType: 'text/html' }), invalid('imageData.mimeType')],
      [image({ base64: 'AAAA', mimeType: 'image/svg+xml' }), invalid('imageData.mimeType')],
      [image({ base64: 'AAAA', mimeType: 5 }), invalid('imageData.mimeType')],
    ]),
  );

  const unsupported = errorFrame('INVALID_MESSAGE_TYPE', {
    field: 'type',
    issue: expect.any(String),
    supported: ['message', 'cancel', 'approve', 'deny', 'toolResult', 'inputAnswer', 'reset'],
  });

  verifies('ws.bad-type', () =>
    expectRefusals([
      [{}, unsupported],
      [{ content: 'hi' }, unsupported],
      [{ type: 'ping' }, unsupported],
      [{ type: 'Message', content: 'hi' }, unsupported],
      [{ type: null }, unsupported],
      [{ type: ['message'], content: 'hi' }, unsupported],
      [{ type: 'constructor' }, unsupported],
      [{ type: '__proto__' }, unsupported],
      [{ type: 'x'.repeat(1_000_000) }, unsupported],
    ]),
  );
});

describe('frames that are large', () => {
  const tooLarge = (limit: number) =>
    errorFrame('RATE_LIMIT_EXCEEDED', {
      limit,
      remaining: 0,
      resetTime: expect.any(Number),
      suggestion: expect.stringMatching(/^Send less than (10 MB|3000 bytes): /),
    });

  verifies('ws.too-large', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ yaml: NO_DRAIN, adapters: { model } });
    using client = await service.connect();
    const base64 = Buffer.alloc(10 * MEGABYTE, 7).toString('base64');
    client.say('look', { imageData: { base64, mimeType: 'image/png' } });
    const call = await model.call(0);
    const [message] = call.request.messages;
    expect(message?.role === 'user' && message.images?.length === 1).toBe(true);
    expect(message?.role === 'user' && message.images?.[0]?.base64 === base64).toBe(true);
    call.answer('Large.');
    await client.settled();

    const oneMore = Buffer.alloc(10 * MEGABYTE + 1, 7).toString('base64');
    client.say('look', { imageData: { base64: oneMore, mimeType: 'image/png' } });
    expect((await client.settled(2)).at(-1)).toEqual(tooLarge(10 * MEGABYTE));
    client.say('x'.repeat(15 * MEGABYTE));
    const frames = await client.settled(3);
    expect(frames.at(-1)).toMatchObject({ event: 'error', data: { code: 'RATE_LIMIT_EXCEEDED' } });
    client.say('hello');
    (await model.call(1)).answer('Small.');
    expect((await client.settled(4)).at(-1)).toEqual({ event: 'response', data: { content: 'Small.' } });
  });

  verifies('ws.too-large', 'as the limit is configured, counted in bytes', async () => {
    await using service = await RunningService.start({
      yaml: `${SCRIPTED}limits: { requestBytes: 3000 }\n`,
    });
    using client = await service.connect();
    const before = Math.floor(Date.now() / 1000);
    client.say('look', { imageData: { base64: 'A'.repeat(4004), mimeType: 'image/png' } });
    const [refusal] = await client.settled();
    expect(refusal).toEqual(tooLarge(3000));
    expect(refusal?.data).toMatchObject({
      details: { resetTime: expect.toSatisfy((time) => time >= before) },
    });
    client.say('look', { imageData: { base64: 'A'.repeat(4000), mimeType: 'image/png' } });
    expect((await client.settled(2)).at(-1)?.event).toBe('response');
    client.say('é'.repeat(1_500));
    const frames = await client.settled(3);
    expect(frames.at(-1)).toEqual(tooLarge(3000));
  });

  verifies('ws.too-large', 'a frame of many times the limit is not even read', async () => {
    await using service = await RunningService.start({
      yaml: `${SCRIPTED}limits: { requestBytes: 3000 }\n`,
    });
    using other = await service.connect();
    const client = await service.connect();
    client.say('x'.repeat(1_000_000));
    // It stands in the middle of a frame that is never read to its end, so the connection cannot stay.
    await client.closed;
    expect(client.frames).toEqual([]);
    other.say('hello');
    expect((await other.settled()).at(-1)?.event).toBe('response');
  });
});

describe('a client that does not read', () => {
  verifies('ws.slow-reader', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ yaml: NO_DRAIN, adapters: { model } });
    using slow = await RawWebSocket.open(service.port);
    using reader = await service.connect();
    reader.say('tell me everything');
    const call = await model.call(0);
    const piece = 'x'.repeat(256 * 1024);
    const pieces = 200;
    let said = 0;
    const say = async () => {
      call.say(piece);
      said += 1;
      // No faster than the one who reads.
      await reader.until(hasChunks(said));
    };
    while (said < pieces && !(await hasGivenUp(service))) await say();
    // At once: uWebSockets.js keeps what waits for a few seconds.
    const reading = slow.readToEnd();
    while (said < pieces) await say();
    call.answer();
    expect((await reader.settled()).at(-1)?.event).toBe('response');

    const { bytes, texts, close } = await reading;
    expect(close).toEqual({ code: 1013, reason: expect.stringMatching(/^slow-reader/) });
    // What it missed it was never sent, and what it was sent is whole and in order.
    expect(bytes).toBeLessThan(0.6 * pieces * piece.length);
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.map((text) => JSON.parse(text))).toEqual(reader.frames.slice(0, texts.length));

    reader.say('go on');
    (await model.call(1)).answer('Gladly.');
    expect((await reader.settled(2)).at(-1)).toEqual({ event: 'response', data: { content: 'Gladly.' } });
  });

  verifies('ws.slow-reader', 'but one that reads late misses nothing', async () => {
    await using service = await RunningService.start({ yaml: UNLIMITED_MESSAGES });
    using slow = await RawWebSocket.open(service.port);
    using reader = await service.connect();
    await slow.send(JSON.stringify({ type: 'message', content: 'hello' }));
    await service.post('/api/message', { message: 'tools' });
    await reader.settled(2);
    // It reads late, but it was never sent more than a socket may keep: nothing is lost.
    const reading = slow.readToEnd();
    await service.close();
    const { texts, close } = await reading;
    expect(close?.code).toBe(1012);
    const events = texts.map((text): unknown => JSON.parse(text).event);
    expect(events.filter((event) => event === 'response')).toHaveLength(2);
  });
});

async function hasGivenUp({ url }: RunningService): Promise<boolean> {
  const metrics = await MetricValues.at(url);
  return metrics.value('agent_slow_readers_closed_total') === 1;
}

const hasChunks =
  (count: number) =>
  (frames: readonly ServerFrame[]): boolean =>
    frames.filter(({ event }) => event === 'chunk').length >= count;
