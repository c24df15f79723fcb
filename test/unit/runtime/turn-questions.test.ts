import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { JsonObject } from '../../../src/core/json-object.ts';
import type { ServerQuestion } from '../../../src/core/tool-server/server-question.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { type RigOptions, SessionRig } from '../../support/sessions/session-rig.ts';
import { type DirectedToolCall, DirectedTools } from '../../support/tools/directed-tools.ts';

const requestedSchema = {
  type: 'object',
  properties: {
    size: { type: 'string', enum: ['small', 'large'] },
    hot: { type: 'boolean', default: true },
  },
  required: ['size'],
};
const form: ServerQuestion = {
  method: 'elicitation/create',
  params: { message: 'Which tea?', requestedSchema },
};

function sample(params: JsonObject = {}): ServerQuestion {
  const messages = [{ role: 'user', content: { type: 'text', text: 'Name a tea.' } }];
  return { method: 'sampling/createMessage', params: { messages, maxTokens: 100, ...params } };
}

/** A turn `a` whose model has called the tool `order` as call `x`. */
async function working(options: RigOptions = {}) {
  const rig = new SessionRig({ tools: new DirectedTools({ order: {} }), ...options });
  const heard = rig.listen();
  await rig.say('a');
  (await rig.model.call(0)).askFor({ name: 'order', callId: 'x' });
  const call: DirectedToolCall = await rig.tools.call(0);
  const session = await rig.registry.session('s');
  return { rig, heard, call, session };
}

const answer = (inputId: string, content?: Record<string, unknown>) =>
  ({ type: 'input.answer', inputId, action: 'accept', content }) as const;

describe('what a tool server asks a person', () => {
  it('is in the log, waits, and is answered with what fits the form', async () => {
    const { rig, heard, call, session } = await working();
    const asked = call.ask(form);
    expect(await heard.event('input.requested')).toEqual({
      type: 'input.requested',
      turnId: 'a',
      callId: 'x',
      toolName: 'order',
      serverId: 'tools',
      inputId: 'x.1.1',
      message: 'Which tea?',
      question: { mode: 'form', schema: requestedSchema },
      expiresAfterMs: 3_600_000,
    });
    expect(session.inputs).toMatchObject([{ inputId: 'x.1.1', message: 'Which tea?' }]);
    await session.idle();

    const refusals = [
      [{}, 'MISSING_FIELD', 'content.size'],
      [{ size: 'huge' }, 'INVALID_REQUEST', 'content.size'],
      [{ size: 'small', sugar: 2 }, 'INVALID_REQUEST', 'content.sugar'],
      [{ size: 'small', hot: 'yes' }, 'INVALID_REQUEST', 'content.hot'],
    ] as const;
    for (const [content, code, field] of refusals)
      await expect(session.answer(answer('x.1.1', content), CLIENT)).rejects.toMatchObject({
        code,
        details: { field },
      });
    await session.answer(answer('x.1.1', { size: 'large' }), CLIENT);
    expect(await asked).toEqual({ action: 'accept', content: { size: 'large', hot: true } });
    await expect(session.answer(answer('x.1.1', { size: 'small' }), CLIENT)).rejects.toMatchObject({
      code: 'INPUT_NOT_FOUND',
    });
    expect(session.inputs).toEqual([]);
    call.answer('ordered');
    (await rig.model.call(1)).answer('Done.');
    await heard.event('turn.completed');
  });

  it('ends with the turn, and the log says so', async () => {
    const { heard, call, session } = await working();
    const asked = call.ask(form);
    await heard.event('input.requested');
    await session.cancel('enough', CLIENT);
    expect(await asked).toEqual({ action: 'cancel' });
    expect(await heard.event('input.answered')).toMatchObject({
      action: 'cancel',
      cause: { kind: 'turn-cancelled' },
    });
  });

  it('ends when its time is over', async () => {
    const clock = new SimulatedClock();
    const now = (): number => clock.now();
    const { heard, call } = await working({ store: memoryEventStore(now), clock, now });
    const asked = call.ask(form);
    await heard.event('input.requested');
    clock.increment(3_600_000);
    expect(await asked).toEqual({ action: 'cancel' });
    expect(await heard.event('input.answered')).toMatchObject({
      cause: { kind: 'input-expired', afterMs: 3_600_000 },
    });
  });

  it('ends when the server does not wait any more, or its call is over', async () => {
    const { heard, call } = await working();
    const gone = new AbortController();
    const first = call.ask(form, gone.signal);
    await heard.event('input.requested');
    gone.abort();
    expect(await first).toEqual({ action: 'cancel' });
    expect(await heard.event('input.answered')).toMatchObject({ cause: { kind: 'input-withdrawn' } });
    const second = call.ask(form);
    const asked = await heard.several('input.requested', 2);
    expect(asked).toMatchObject([{ inputId: 'x.1.1' }, { inputId: 'x.1.2' }]);
    call.answer('never mind');
    expect(await second).toEqual({ action: 'cancel' });
    await heard.event('tool-call.succeeded');
  });

  it('ends with a restart: the call is interrupted, and the turn goes on', async () => {
    const store = memoryEventStore();
    const { rig: before, heard, call } = await working({ store });
    void call.ask(form);
    await heard.event('input.requested');
    await before.registry.drain(0);
    const rig = new SessionRig({ store, tools: new DirectedTools({ order: {} }) });
    const since = rig.listen();
    const session = await rig.registry.session('s');
    await session.resume();
    expect(await since.event('input.answered')).toMatchObject({
      action: 'cancel',
      cause: { kind: 'service-stopped' },
    });
    expect(await since.event('tool-call.interrupted')).toMatchObject({ callId: 'x' });
    (await rig.model.call(0)).answer('Sorry.');
    await since.event('turn.completed');
  });

  it('is refused if it is no form that MCP allows', async () => {
    const { call, rig } = await working();
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
    const params = { message: 'Well?', requestedSchema: nested };
    await expect(call.ask({ method: 'elicitation/create', params })).rejects.toMatchObject({
      name: 'JsonRpcError',
      code: -32_602,
    });
    const script = { mode: 'url', message: 'Go there', url: 'javascript:alert(1)' };
    await expect(call.ask({ method: 'elicitation/create', params: script })).rejects.toMatchObject({
      message: 'url: must be an http:// or https:// URL',
    });
    expect((await rig.logged()).some(({ type }) => type === 'input.requested')).toBe(false);
  });
});

describe('what a tool server asks of the model', () => {
  it('is refused unless the server may', async () => {
    const { call } = await working();
    await expect(call.ask(sample())).rejects.toMatchObject({ name: 'JsonRpcError', code: -1 });
  });

  it('is answered without the conversation, within its budget', async () => {
    const sampling = { policy: 'auto', maxRequests: 2, maxTokens: 120 } as const;
    const { rig, call, heard } = await working({ sampling });
    const asked = call.ask(sample({ systemPrompt: 'You know tea.', includeContext: 'allServers' }));
    const sampled = await rig.model.call(1);
    const { request } = sampled;
    expect(request).toMatchObject({
      systemPrompt: 'You know tea.',
      messages: [{ role: 'user', text: 'Name a tea.' }],
      tools: [],
      settings: { maxTokens: 100 },
    });
    expect(JSON.stringify(request)).not.toContain('Be brief.');
    sampled.answer('Assam');
    expect(await asked).toMatchObject({
      role: 'assistant',
      content: { type: 'text', text: 'Assam' },
      stopReason: 'endTurn',
    });
    expect(await heard.event('sampling.completed')).toMatchObject({ callId: 'x', serverId: 'tools' });
    const more = call.ask(sample());
    (await rig.model.call(2)).answer('Darjeeling');
    await more;
    await expect(call.ask(sample())).rejects.toThrow('sampling.maxRequests: 2');
  });

  it('gets as many tokens as its budget leaves', async () => {
    const sampling = { policy: 'auto', maxRequests: 9, maxTokens: 60 } as const;
    const { rig, call } = await working({ sampling });
    const first = call.ask(sample());
    const sampled = await rig.model.call(1);
    expect(sampled.request.settings).toEqual({ maxTokens: 60 });
    await expect(call.ask(sample())).rejects.toThrow('sampling.maxTokens: 60');
    sampled.answer('Assam');
    await first;
  });

  it('waits for approval if the agent file says so', async () => {
    const sampling = { policy: 'ask', maxRequests: 9, maxTokens: 1_000 } as const;
    const { rig, call, heard, session } = await working({ sampling });
    const declined = call.ask(sample());
    const { inputId, question } = await heard.event('input.requested');
    expect(question).toEqual({ mode: 'sampling', prompt: 'Name a tea.', maxTokens: 100 });
    await session.answer({ type: 'input.answer', inputId, action: 'decline' }, CLIENT);
    await expect(declined).rejects.toMatchObject({ code: -1, message: 'somebody declined the request' });
    const approved = call.ask(sample());
    await heard.several('input.requested', 2);
    await session.answer(answer('x.1.2'), CLIENT);
    (await rig.model.call(1)).answer('Assam');
    expect(await approved).toMatchObject({ content: { text: 'Assam' } });
  });

  it('is refused with tools, and with content that models do not take', async () => {
    const sampling = { policy: 'auto', maxRequests: 9, maxTokens: 1_000 } as const;
    const { call } = await working({ sampling });
    await expect(call.ask(sample({ tools: [{ name: 'look' }] }))).rejects.toThrow('tools: ');
    const audio = [{ role: 'user', content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } }];
    await expect(call.ask(sample({ messages: audio }))).rejects.toThrow('messages.0.content');
  });
});

describe('where a tool server may work', () => {
  it('is told at once', async () => {
    const { call } = await working();
    expect(await call.ask({ method: 'roots/list', params: {} })).toEqual({
      roots: [{ uri: 'file:///work' }],
    });
  });
});
