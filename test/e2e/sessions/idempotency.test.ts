import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { isSettling } from '../../support/sockets/websocket-client.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}server: { drainTimeoutMs: 0 }\nlimits: { requestsPerMinute: false }\n`;
const SYNC = '/api/message-sync';
const keyed = (key: string) => ({ 'Idempotency-Key': key });
const IMAGE = {
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  mimeType: 'image/png',
};

async function startDirected(dataDir = ':memory:') {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, dataDir, adapters: { model } });
  return { model, service };
}

/** Posts and lets the model answer its call of that number. */
async function answered(
  { model, service }: Awaited<ReturnType<typeof startDirected>>,
  body: object,
  key: string,
  { call = 0, answer = 'the answer' } = {},
): Promise<Response> {
  const response = service.post(SYNC, body, keyed(key));
  (await model.call(call)).answer(answer);
  return response;
}

describe('the same key', () => {
  verifies('idempotency.same', async () => {
    const setup = await startDirected();
    const { model, service } = setup;
    await using _ = service;
    const first = await answered(setup, { message: 'pay 5 €' }, 'k1');
    expect(await first.json()).toMatchObject({ success: true, response: 'the answer' });
    for (let repetition = 0; repetition < 3; repetition += 1) {
      const again = await service.post(SYNC, { message: 'pay 5 €' }, keyed('k1'));
      expect(again.status).toBe(200);
      expect(await again.json()).toMatchObject({ success: true, response: 'the answer' });
    }
    const later = await service.post('/api/message', { message: 'pay 5 €' }, keyed('k1'));
    expect(await later.json()).toMatchObject({ status: 'processing' });
    expect(model.calls).toHaveLength(1);
    expect((await viewOf(service, 'default')).turns.requested).toBe(1);
  });

  verifies('idempotency.same', 'also with an image, whatever the order of the fields', async () => {
    const setup = await startDirected();
    const { model, service } = setup;
    await using _ = service;
    await answered(setup, { message: 'look', imageData: IMAGE }, 'k');
    // The fields in another order, and a wish about waiting, are no other message.
    const { base64, mimeType } = IMAGE;
    const again = await service.post(
      SYNC,
      { whenBusy: 'interrupt', imageData: { mimeType, base64 }, message: 'look' },
      keyed('k'),
    );
    expect(await again.json()).toMatchObject({ response: 'the answer' });
    expect(model.calls).toHaveLength(1);
  });

  verifies(
    'idempotency.same',
    'counts in its session alone, and another key is another message',
    async () => {
      const setup = await startDirected();
      const { model, service } = setup;
      await using _ = service;
      await answered(setup, { message: 'hi', sessionId: 'a' }, 'k', { answer: 'in a' });
      const other = await answered(setup, { message: 'hi', sessionId: 'b' }, 'k', {
        call: 1,
        answer: 'in b',
      });
      expect(await other.json()).toMatchObject({ response: 'in b' });
      await answered(setup, { message: 'hi', sessionId: 'a' }, 'k2', { call: 2, answer: 'anew' });
      expect(model.calls).toHaveLength(3);
    },
  );

  verifies('idempotency.running', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const posts = Array.from({ length: 5 }, () => service.post(SYNC, { message: 'once' }, keyed('k')));
    const call = await model.call(0);
    const behind = service.post(SYNC, { message: 'behind' });
    const interrupting = service.post(SYNC, { message: 'once', whenBusy: 'interrupt' }, keyed('k'));
    const rejecting = service.post(SYNC, { message: 'once', whenBusy: 'reject' }, keyed('k'));
    await service.post('/api/message', { message: 'once' }, keyed('k'));
    expect(call.signal.aborted).toBe(false);
    call.answer('for all');
    for (const post of [...posts, interrupting, rejecting]) {
      expect(await (await post).json()).toMatchObject({ success: true, response: 'for all' });
    }
    (await model.callFor('behind')).answer('last');
    await behind;
    expect(model.calls).toHaveLength(2);
  });

  verifies('idempotency.running', 'and while it waits', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const running = service.post(SYNC, { message: 'runs' });
    await model.call(0);
    const waiting = [1, 2].map(() => service.post(SYNC, { message: 'waits' }, keyed('k')));
    (await model.call(0)).answer('ran');
    (await model.callFor('waits')).answer('waited');
    for (const post of waiting) expect(await (await post).json()).toMatchObject({ response: 'waited' });
    expect(await (await running).json()).toMatchObject({ response: 'ran' });
    expect(model.calls).toHaveLength(2);
  });

  verifies('idempotency.restart', async () => {
    await using directory = await tempDirectory();
    const before = await startDirected(directory.path);
    await answered(before, { message: 'pay' }, 'k', { answer: 'paid' });
    await before.service.close();

    const { model, service } = await startDirected(directory.path);
    await using _ = service;
    const again = await service.post(SYNC, { message: 'pay' }, keyed('k'));
    expect(await again.json()).toMatchObject({ response: 'paid' });
    expect(await errorOf(await service.post(SYNC, { message: 'pay more' }, keyed('k')), 422)).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(model.calls).toEqual([]);
  });

  verifies('idempotency.restart', 'and the turn that the stop cut off answers its repetition', async () => {
    await using directory = await tempDirectory();
    const before = await startDirected(directory.path);
    await before.service.post('/api/message', { message: 'pay' }, keyed('k'));
    await before.model.call(0);
    await before.service.close();

    const { model, service } = await startDirected(directory.path);
    await using _ = service;
    const again = service.post(SYNC, { message: 'pay' }, keyed('k'));
    (await model.call(0)).answer('paid once');
    expect(await (await again).json()).toMatchObject({ response: 'paid once' });
    expect(model.calls).toHaveLength(1);
    expect((await viewOf(service, 'default')).turns.requested).toBe(1);
  });

  verifies('idempotency.failed', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const cancelled = service.post(SYNC, { message: 'cancel me' }, keyed('c'));
    await model.call(0);
    await service.post('/api/sessions/default/cancel', { reason: 'enough' });
    const failed = service.post(SYNC, { message: 'fail' }, keyed('f'));
    (await model.call(1)).fail(new Error('broken'));
    const errors = [await errorOf(await cancelled, 409), await errorOf(await failed, 500)];
    const again = [
      await errorOf(await service.post(SYNC, { message: 'cancel me' }, keyed('c')), 409),
      await errorOf(await service.post(SYNC, { message: 'fail' }, keyed('f')), 500),
    ];
    expect(again).toEqual(errors);
    expect(model.calls).toHaveLength(2);
  });

  verifies(
    'idempotency.failed',
    'but a message that was refused was never accepted: its key is free',
    async () => {
      const { model, service } = await startDirected();
      await using _ = service;
      const first = service.post(SYNC, { message: 'busy' });
      await model.call(0);
      const refused = { message: 'later', whenBusy: 'reject' };
      await errorOf(await service.post(SYNC, refused, keyed('k')), 409);
      (await model.call(0)).answer('free');
      await first;
      const second = service.post(SYNC, refused, keyed('k'));
      (await model.call(1)).answer('now');
      expect(await (await second).json()).toMatchObject({ response: 'now' });
    },
  );
});

describe('a key of another request', () => {
  verifies('idempotency.other', async () => {
    const setup = await startDirected();
    const { model, service } = setup;
    await using _ = service;
    await answered(setup, { message: 'one' }, 'k');
    const { head } = await viewOf(service, 'default');
    const others = [
      service.post(SYNC, { message: 'two' }, keyed('k')),
      service.post('/api/message', { message: 'two' }, keyed('k')),
      service.post(SYNC, { message: 'one', imageData: IMAGE }, keyed('k')),
      service.post('/api/reset', {}, keyed('k')),
    ];
    for (const other of others) {
      expect(await errorOf(await other, 422)).toMatchObject({
        code: 'IDEMPOTENCY_KEY_REUSED',
        details: { key: 'k' },
      });
    }
    expect(model.calls).toHaveLength(1);
    expect((await viewOf(service, 'default')).head).toBe(head);
  });

  verifies('idempotency.invalid', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    for (const key of ['', 'a b', 'x'.repeat(256), 'ä']) {
      for (const path of [SYNC, '/api/message', '/api/reset']) {
        const error = await errorOf(await service.post(path, { message: 'hi' }, keyed(key)), 400);
        expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'Idempotency-Key' } });
      }
    }
    expect((await service.post(SYNC, { message: 'hi' }, keyed('x'.repeat(255)))).status).toBe(200);
  });

  verifies('idempotency.invalid', 'over WebSocket an error event', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    using client = await service.connect();
    for (const clientMessageId of ['', 'a b', 5, {}]) client.say('hi', { clientMessageId });
    const frames = await client.settled(4);
    expect(frames).toEqual(
      [1, 2, 3, 4].map(() => ({
        event: 'error',
        data: expect.objectContaining({
          code: 'INVALID_REQUEST',
          details: expect.objectContaining({ field: 'clientMessageId' }),
        }),
      })),
    );
  });
});

describe('a reset with a key', () => {
  verifies('idempotency.reset', async () => {
    const setup = await startDirected();
    const { service } = setup;
    await using _ = service;
    await answered(setup, { message: 'one' }, 'm1');
    const reset = () => service.post('/api/reset', {}, keyed('r'));
    expect(await (await reset()).json()).toMatchObject({ status: 'reset initiated' });
    await answered(setup, { message: 'two' }, 'm2', { call: 1, answer: '2' });
    expect(await (await reset()).json()).toMatchObject({ status: 'reset initiated' });
    expect((await viewOf(service, 'default')).history).toEqual([
      { role: 'user', content: 'two' },
      { role: 'assistant', content: '2' },
    ]);
    // What was answered before the reset is known after it.
    const again = await service.post(SYNC, { message: 'one' }, keyed('m1'));
    expect(await again.json()).toMatchObject({ response: 'the answer' });
  });
});

describe('clientMessageId', () => {
  verifies('idempotency.socket', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using client = await service.connect();
    using other = await service.connect();
    client.say('once', { clientMessageId: 'k' });
    client.say('once', { clientMessageId: 'k' });
    client.send({ type: 'no such type' });
    // The answer to the last frame: both before it are in.
    await client.settled();
    (await model.call(0)).answer('one answer');
    await client.settled(2);
    client.say('once', { clientMessageId: 'k' });
    await client.settled(3);
    client.say('something else', { clientMessageId: 'k' });
    const frames = await client.settled(4);
    expect(frames.filter(({ data }) => !('code' in data && data.code === 'INVALID_MESSAGE_TYPE'))).toEqual([
      { event: 'thinking', data: { message: expect.any(String) } },
      { event: 'chunk', data: { content: 'one answer' } },
      { event: 'response', data: { content: 'one answer' } },
      { event: 'response', data: { content: 'one answer' } },
      {
        event: 'error',
        data: { code: 'IDEMPOTENCY_KEY_REUSED', message: expect.any(String), details: expect.anything() },
      },
    ]);
    // The repetition is the sender's affair alone.
    const sync = await service.post(SYNC, { message: 'once' }, keyed('k'));
    expect(await sync.json()).toMatchObject({ response: 'one answer' });
    expect(other.frames.filter(isSettling)).toHaveLength(1);
    expect(model.calls).toHaveLength(1);
    expect((await eventsOf(service, 'default')).filter(({ event }) => event === 'message')).toHaveLength(1);
  });
});
