import { describe, expect } from 'vitest';
import { pairingFaults } from '../../support/log/paired-history.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { textReply, toolCallReply } from '../../support/models/openai-upstream.ts';
import { said } from '../../support/models/steps.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { UpstreamService } from '../../support/service/upstream-service.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const CANCEL = '/api/sessions/default/cancel';
/** Streams so much and then says nothing more. */
const hanging = (text: string) => ({ stream: [{ text }, { hang: true } as const] });
const withTools = { mcpServers: { tools: scriptableServer() } };

async function startDirected(yaml = '') {
  const model = new DirectedModel();
  const service = await RunningService.start({
    yaml: `${SCRIPTED}server: { drainTimeoutMs: 0 }\n${yaml}`,
    adapters: { model },
  });
  return { model, service };
}

describe('cancelling', () => {
  verifies('control.cancel', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(hanging('Once upon'));
    const sync = service.post('/api/message-sync', { message: 'tell' });
    await client.until((frames) => frames.some(({ event }) => event === 'chunk'));
    const response = await service.post(CANCEL, { reason: 'enough of it' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'cancelled',
      sessionId: 'default',
      timestamp: expect.stringMatching(/Z$/),
    });
    expect(await errorOf(await sync, 409)).toMatchObject({
      code: 'TURN_CANCELLED',
      details: { reason: 'enough of it' },
    });
    const frames = await client.settled();
    expect(frames.at(-1)).toMatchObject({
      event: 'error',
      data: { code: 'TURN_CANCELLED', message: expect.any(String), details: { reason: 'enough of it' } },
    });
  });

  verifies('control.cancel', 'by a frame', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    using client = await service.connect('?session=s');
    upstream.replyWith(hanging('Once'));
    client.say('tell');
    const request = await upstream.request(0);
    client.send({ type: 'cancel' });
    await request.aborted;
    const frames = await client.settled();
    expect(frames.at(-1)).toMatchObject({ event: 'error', data: { code: 'TURN_CANCELLED' } });
    expect(await viewOf(service, 's')).toMatchObject({
      status: 'idle',
      openTurnId: null,
      turns: { requested: 1, completed: 0, failed: 0, cancelled: 1, waiting: 0 },
    });
  });

  verifies('control.cancel', 'the message that waits behind it begins', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using client = await service.connect();
    client.say('first');
    await model.call(0);
    await service.post('/api/message', { message: 'second' });
    await service.post(CANCEL);
    const call = await model.callFor('second');
    call.answer('heard');
    const frames = await client.settled(2);
    expect(frames.map(({ event }) => event)).toEqual(['thinking', 'error', 'thinking', 'chunk', 'response']);
  });

  verifies('control.cancel', 'a bad reason is refused, and no body is needed', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    for (const reason of ['', 5, 'x'.repeat(501)]) {
      const error = await errorOf(await service.post(CANCEL, { reason }), 400);
      expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'reason' } });
    }
    await service.post('/api/message', { message: 'still there' });
    const { signal } = await model.call(0);
    expect((await service.fetch(CANCEL, { method: 'POST' })).status).toBe(200);
    expect(signal.aborted).toBe(true);
  });

  verifies('control.cancel-model', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    upstream.replyWith({ hang: true });
    await service.post('/api/message', { message: 'hello?' });
    const request = await upstream.request(0);
    await service.post(CANCEL);
    await request.aborted;
    await upstream.idle();
    // No attempt after the cancelled one.
    expect(upstream.requests).toHaveLength(1);
  });

  verifies('control.cancel-tool', async () => {
    await using setup = await UpstreamService.open({}, withTools);
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(
      toolCallReply([
        { id: 'slow-1', name: 'slow', arguments: { ms: 60_000 } },
        { id: 'slow-2', name: 'slow', arguments: { ms: 60_000 } },
        { id: 'quick', name: 'echo', arguments: { message: 'hi' } },
      ]),
    );
    client.say('go');
    await client.until((frames) => frames.some(({ event }) => event === 'toolResult'));
    await service.post(CANCEL);
    expect(await toolText(service, 'tools', 'cancelled', { atLeast: 2 })).toBe('2');
    const frames = await client.settled();
    const results = frames.filter(({ event }) => event === 'toolResult').map(({ data }) => data);
    expect(results).toEqual([
      expect.objectContaining({ callId: 'quick', result: expect.anything() }),
      expect.objectContaining({ callId: 'slow-1', error: expect.stringContaining('cancelled') }),
      expect.objectContaining({ callId: 'slow-2', error: expect.stringContaining('cancelled') }),
    ]);
    upstream.replyWith(textReply('Fine.'));
    client.say('and now?');
    await client.settled(2);
    const { messages } = (await upstream.request(1)).body;
    expect(pairingFaults(messages)).toEqual([]);
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
      // In the order of the calls.
      { tool_call_id: 'slow-1', content: expect.stringContaining('interrupted') },
      { tool_call_id: 'slow-2', content: expect.stringContaining('interrupted') },
      { tool_call_id: 'quick', content: 'hi' },
    ]);
  });

  verifies('control.cancel-partial', async () => {
    await using setup = await UpstreamService.open({}, withTools);
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(
      toolCallReply([{ id: 'c', name: 'echo', arguments: { message: 'hi' } }], { text: 'Looking.' }),
      hanging('Half an ans'),
    );
    client.say('go');
    const isHere = ({ event, data }: { event: string; data: object }) =>
      event === 'chunk' && 'content' in data && data.content === 'Half an ans';
    await client.until((frames) => frames.some(isHere));
    await service.post(CANCEL);
    const { history } = await viewOf(service, 'default');
    expect(history).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Looking.',
        toolCalls: [{ callId: 'c', name: 'echo', arguments: { message: 'hi' } }],
      },
      { role: 'tool', callId: 'c', name: 'echo', content: 'hi' },
      { role: 'assistant', content: 'Half an ans', cut: 'cancelled' },
    ]);
  });

  verifies('control.cancel-next', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(hanging('Half'), { hang: true }, textReply('Whole.'));
    client.say('one');
    await client.until((frames) => frames.some(({ event }) => event === 'chunk'));
    await service.post(CANCEL);
    client.say('two');
    await upstream.request(1);
    await service.post(CANCEL);
    client.say('three');
    expect((await client.settled(3)).at(-1)).toEqual({ event: 'response', data: { content: 'Whole.' } });
    const { messages } = (await upstream.request(2)).body;
    expect(pairingFaults(messages)).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[2]).toMatchObject({ content: expect.stringContaining('Half') });
    // Of the second message nothing was answered: it goes on with the third.
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'two\n\nthree' });
  });

  verifies('control.cancel-idle', async () => {
    await using service = await RunningService.start();
    await service.post('/api/message-sync', { message: 'hi' });
    const { head } = await viewOf(service, 'default');
    const response = await service.post(CANCEL);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'idle', sessionId: 'default' });
    expect((await viewOf(service, 'default')).head).toBe(head);
    expect((await service.post('/api/message-sync', { message: 'hi again' })).status).toBe(200);
  });
});

describe('a message to a busy session', () => {
  verifies('control.enqueue', async () => {
    const { model, service } = await startDirected('sessions: { whenBusy: reject }\n');
    await using _ = service;
    const first = service.post('/api/message-sync', { message: 'one' });
    await model.call(0);
    const second = service.post('/api/message-sync', { message: 'two', whenBusy: 'enqueue' });
    await errorOf(await service.post('/api/message', { message: 'three' }), 409);
    (await model.callFor('one')).answer('1');
    (await model.callFor('two')).answer('2');
    expect(await (await first).json()).toMatchObject({ response: '1' });
    expect(await (await second).json()).toMatchObject({ response: '2' });
  });

  verifies('control.reject', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    using client = await service.connect();
    const first = service.post('/api/message-sync', { message: 'one', whenBusy: 'reject' });
    await model.call(0);
    const { openTurnId, head } = await viewOf(service, 'default');
    for (const path of ['/api/message', '/api/message-sync']) {
      const error = await errorOf(await service.post(path, { message: 'two', whenBusy: 'reject' }), 409);
      expect(error).toMatchObject({ code: 'SESSION_BUSY', details: { turnId: openTurnId } });
    }
    client.say('three', { whenBusy: 'reject' });
    const frames = await client.settled();
    expect(frames.at(-1)).toMatchObject({ event: 'error', data: { code: 'SESSION_BUSY' } });
    expect((await viewOf(service, 'default')).head).toBe(head);
    (await model.call(0)).answer('undisturbed');
    expect(await (await first).json()).toMatchObject({ response: 'undisturbed' });
  });

  verifies('control.reject', 'another word is 400', async () => {
    await using service = await RunningService.start();
    for (const whenBusy of ['wait', '', 1, {}]) {
      for (const path of ['/api/message', '/api/message-sync']) {
        const error = await errorOf(await service.post(path, { message: 'hi', whenBusy }), 400);
        expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'whenBusy' } });
      }
    }
  });

  verifies('control.interrupt', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const first = service.post('/api/message-sync', { message: 'one' });
    (await model.call(0)).say('As I was say');
    const waiting = service.post('/api/message-sync', { message: 'waits' });
    const interrupting = service.post('/api/message-sync', { message: 'stop!', whenBusy: 'interrupt' });
    expect(await errorOf(await first, 409)).toMatchObject({
      code: 'TURN_CANCELLED',
      details: { reason: expect.stringContaining('interrupted') },
    });
    expect((await model.call(0)).signal.aborted).toBe(true);
    const call = await model.callFor('stop!');
    expect(call.request.messages).toEqual([
      { role: 'user', text: 'one' },
      said('As I was say [cut off: the user cancelled this reply]'),
      { role: 'user', text: 'stop!' },
    ]);
    call.answer('stopped');
    expect(await (await interrupting).json()).toMatchObject({ response: 'stopped' });
    (await model.callFor('waits')).answer('my turn');
    expect(await (await waiting).json()).toMatchObject({ response: 'my turn' });
  });

  verifies('control.interrupt', 'from the middle of a tool call, over WebSocket', async () => {
    await using setup = await UpstreamService.open({}, withTools);
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(
      toolCallReply([{ id: 'slow-1', name: 'slow', arguments: { ms: 60_000 } }]),
      textReply('Here I am.'),
    );
    client.say('go');
    await client.until((frames) => frames.some(({ event }) => event === 'toolCall'));
    client.say('never mind', { whenBusy: 'interrupt' });
    expect((await client.settled(2)).at(-1)).toEqual({
      event: 'response',
      data: { content: 'Here I am.' },
    });
    expect(pairingFaults((await upstream.request(1)).body.messages)).toEqual([]);
    const seqs = (await eventsOf(service, 'default')).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  verifies('control.default', async () => {
    const { model, service } = await startDirected('sessions: { whenBusy: interrupt }\n');
    await using _ = service;
    const first = service.post('/api/message-sync', { message: 'one' });
    await model.call(0);
    const second = service.post('/api/message-sync', { message: 'two' });
    expect(await errorOf(await first, 409)).toMatchObject({ code: 'TURN_CANCELLED' });
    (await model.callFor('two')).answer('2');
    expect(await (await second).json()).toMatchObject({ response: '2' });
  });
});
