import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { ServiceError } from '../../../src/core/errors.ts';
import { typesOf } from '../../support/log/session-log.ts';
import { NO_REPLY } from '../../support/models/steps.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

describe('the text of a running turn', () => {
  it('is published as it comes, without a write to the log', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    let appends = 0;
    rig.store.beforeAppend = async () => {
      appends += 1;
    };
    call.say('Hel', 'lo 👋');
    const place = { type: 'reply.chunk', sessionId: 's', turnId: 'hello', step: 1 };
    expect(heard.chunks).toEqual([
      { ...place, offset: 0, content: 'Hel' },
      { ...place, offset: 3, content: 'lo 👋' },
    ]);
    expect(appends).toBe(0);
  });

  it('is not heard any more when the call is over', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.answer('all');
    await heard.event('turn.completed');
    call.say(' and more');
    expect(heard.chunks.map(({ content }) => content)).toEqual(['all']);
  });

  it('adds up to the reply over several steps, the separator between them included', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    const first = await rig.model.call(0);
    first.say('Let me ', 'look.');
    first.askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    const silent = await rig.model.call(1);
    silent.askFor({ name: 'look' });
    (await tools.call(1)).answer('seen again');
    (await rig.model.call(2)).answer('I have ', 'seen it.');
    const { content } = await heard.event('turn.completed');
    expect(content).toBe('Let me look.\n\nI have seen it.');
    expect(heard.text).toBe(content);
    const place = heard.chunks.map(({ step, offset, content: piece }) => [step, offset, piece]);
    expect(place).toEqual([
      [1, 0, 'Let me '],
      [1, 7, 'look.'],
      [3, 0, '\n\n'],
      [3, 2, 'I have '],
      [3, 9, 'seen it.'],
    ]);
  });

  it('has no separator before the first step that speaks', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    (await rig.model.call(1)).answer('Seen.');
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'Seen.' });
    expect(heard.text).toBe('Seen.');
  });

  it('may be empty: the turn is answered all the same', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).answer();
    expect(await heard.event('turn.completed')).toMatchObject({ content: '' });
  });
});

describe('turns of the same id in two sessions, as after an import under another id', () => {
  it('run side by side, each in its own session', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = { a: rig.listen('a'), b: rig.listen('b') };
    await rig.say('of a', { sessionId: 'a', turnId: 'same' });
    await rig.say('of b', { sessionId: 'b', turnId: 'same' });
    (await rig.model.callFor('of a')).askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    (await rig.model.callFor('of b')).answer('Hello b');
    await heard.b.event('turn.completed');
    (await rig.model.call(2)).answer('Hello a');
    expect(await heard.a.event('turn.completed')).toMatchObject({ content: 'Hello a' });
    expect([heard.a.text, heard.b.text]).toEqual(['Hello a', 'Hello b']);
  });
});

describe('what the model is given', () => {
  it('is the system prompt, the tools and the history as it was when it was called', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    await rig.say('hello');
    const { request } = await rig.model.call(0);
    expect(request).toEqual({
      systemPrompt: 'Be brief.',
      messages: [{ role: 'user', text: 'hello' }],
      tools: [{ name: 'look', description: '', inputSchema: { type: 'object' } }],
      origin: { turnId: 'hello', step: 1, said: 'hello' },
    });
    (await rig.model.call(0)).askFor({ name: 'look' });
    await tools.call(0);
    expect(request.messages).toEqual([{ role: 'user', text: 'hello' }]);
  });

  it('waits for the first attempt of the tool servers to connect', async () => {
    const tools = new DirectedTools({ look: {} });
    const { promise: open, resolve: letOpen } = Promise.withResolvers<void>();
    tools.open = open;
    const rig = new SessionRig({ tools });
    await rig.say('hello');
    expect(rig.model.calls).toEqual([]);
    letOpen();
    expect((await rig.model.call(0)).request.tools).toMatchObject([{ name: 'look' }]);
  });

  it('is not given at all when the turn is cancelled before', async () => {
    const tools = new DirectedTools({ look: {} });
    const { promise: open, resolve: letOpen } = Promise.withResolvers<void>();
    tools.open = open;
    const rig = new SessionRig({ tools });
    await rig.say('early');
    expect(await (await rig.registry.session('s')).cancel('too slow', CLIENT)).toBe(true);
    letOpen();
    await rig.say('late');
    const { userText, request } = await rig.model.call(0);
    expect(userText).toBe('early\n\nlate');
    expect(request.origin?.said).toBe('late');
  });
});

describe('tool calls of one step', () => {
  it('run at the same time, and the model goes on when the last is settled', async () => {
    const tools = new DirectedTools({ look: {}, listen: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).askFor({ name: 'look', arguments: { at: 'me' } }, { name: 'listen' });
    const [look, listen] = [await tools.call(0), await tools.call(1)];
    expect(look).toMatchObject({ toolName: 'look', arguments: { at: 'me' } });
    listen.answer('heard');
    await heard.event('tool-call.succeeded');
    expect(rig.model.calls).toHaveLength(1);
    look.settle({ status: 'failed', reason: 'it is dark' });
    expect((await rig.model.call(1)).request.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ name: 'look', arguments: { at: 'me' } }, { name: 'listen' }] },
      // In the order of the calls, whichever came first.
      { role: 'tool', name: 'look', text: 'The tool failed: it is dark' },
      { role: 'tool', name: 'listen', text: 'heard' },
    ]);
  });

  it('are recorded before they are run', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    await rig.say('hello');
    const held = rig.store.holdNext('tool-call.requested');
    (await rig.model.call(0)).askFor({ name: 'look' });
    await held.arrived;
    expect(tools.calls).toEqual([]);
    held.release();
    await tools.call(0);
  });

  it.each([
    ['an unknown tool', { name: 'fly' }, /no such tool; there are: look/],
    ['arguments that are no JSON', { name: 'look', arguments: '{"at":' }, /not a JSON object/],
    ['arguments that are no object', { name: 'look', arguments: '[1]' }, /not a JSON object/],
  ])('with %s are told to the model, and the others run', async (_, wrong, problem) => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    await rig.say('hello');
    (await rig.model.call(0)).askFor(wrong, { name: 'look', arguments: '' });
    (await tools.call(0)).answer('seen');
    expect((await rig.model.call(1)).request.messages.slice(2)).toMatchObject([
      { role: 'tool', callId: 'call-0-0', text: expect.stringMatching(problem) },
      { role: 'tool', callId: 'call-0-1', text: 'seen' },
    ]);
    expect(tools.calls).toHaveLength(1);
  });

  it.each(['', ' ', 'null', ' null\n'])('without arguments are run: %j', async (given) => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    await rig.say('hello');
    (await rig.model.call(0)).askFor({ name: 'look', arguments: given });
    expect((await tools.call(0)).arguments).toEqual({});
  });

  it('keep their results apart from those of calls that the model is not shown now', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    const same = { name: 'look', callId: 'call_0' };
    (await rig.model.call(0)).askFor(same);
    (await tools.call(0)).answer('1');
    const refused = new ServiceError('AGENT_ERROR', 'No.', { refused: 'content' });
    (await rig.model.call(1)).fail(refused);
    await heard.event('turn.failed');
    await rig.say('again');
    expect((await rig.model.call(2)).request.messages).toEqual([{ role: 'user', text: 'again' }]);
    (await rig.model.call(2)).askFor(same);
    (await tools.call(1)).answer('2');
    await rig.model.call(3);
    const ids = heard.events.flatMap((event) => (event.type === 'tool-call.requested' ? [event.callId] : []));
    expect(ids).toEqual(['call_0', expect.stringMatching(/^call_.{36}$/)]);
  });

  it('may all be wrong: the model is asked again at once', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).askFor({ name: 'fly' });
    (await rig.model.call(1)).answer('I cannot fly.');
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'I cannot fly.' });
  });

  it('keep their results apart when the provider uses an id twice', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    const same = { name: 'look', callId: 'call_0' };
    (await rig.model.call(0)).askFor(same, same);
    (await tools.call(0)).answer('1');
    (await tools.call(1)).answer('2');
    (await rig.model.call(1)).askFor(same, { name: 'look', callId: '' });
    (await tools.call(2)).answer('3');
    (await tools.call(3)).answer('4');
    await rig.model.call(2);
    const ids = heard.events.flatMap((event) => (event.type === 'tool-call.requested' ? [event.callId] : []));
    expect(ids[0]).toBe('call_0');
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain('');
  });
});

describe('a turn that fails', () => {
  /** A model call may take a second of its clock. */
  function timed() {
    const clock = new SimulatedClock();
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools, stepTimeoutMs: 1_000, clock });
    return { clock, tools, rig, heard: rig.listen() };
  }

  it('when one model call takes too long: the call is aborted and what it says later goes nowhere', async () => {
    const { clock, rig, heard } = timed();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.say('Half a ');
    clock.increment(1_000);
    await call.aborted;
    call.say('sentence');
    expect(await heard.event('turn.failed')).toMatchObject({
      cause: { kind: 'step-timeout', stepTimeoutMs: 1_000 },
      error: {
        code: 'AGENT_ERROR',
        details: { reason: expect.stringMatching(/1000 ms.*llm\.stepTimeoutMs/) },
      },
      partial: 'Half a ',
    });
    expect(heard.text).toBe('Half a ');
  });

  it('but not by the time that its tools take: each model call has its whole time', async () => {
    const { clock, tools, rig, heard } = timed();
    await rig.say('hello');
    const first = await rig.model.call(0);
    clock.increment(999);
    first.askFor({ name: 'look' });
    const look = await tools.call(0);
    clock.increment(5_000);
    look.answer('seen');
    const second = await rig.model.call(1);
    clock.increment(999);
    second.answer('Done.');
    await heard.event('turn.completed');
    clock.increment(5_000);
    expect(heard.events.map(({ type }) => type)).not.toContain('turn.failed');
  });

  it('nor by the time that the log takes: what was said is not said again as the part of another step', async () => {
    const { clock, tools, rig, heard } = timed();
    await rig.say('hello');
    const first = await rig.model.call(0);
    const held = rig.store.holdNext('step.completed');
    first.say('Let me look.');
    first.askFor({ name: 'look' });
    await held.arrived;
    clock.increment(5_000);
    held.release();
    (await tools.call(0)).answer('seen');
    (await rig.model.call(1)).answer('Done.');
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'Let me look.\n\nDone.' });
  });

  it('at the step limit, with every call paired', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools, maxSteps: 2 });
    const heard = rig.listen();
    await rig.say('hello');
    for (const step of [0, 1]) {
      (await rig.model.call(step)).askFor({ name: 'look' });
      (await tools.call(step)).answer('seen');
    }
    expect(await heard.event('turn.failed')).toMatchObject({
      cause: { kind: 'step-limit', maxSteps: 2 },
      error: {
        code: 'AGENT_ERROR',
        details: { reason: expect.stringMatching(/after 2 model calls.*llm\.maxSteps/) },
      },
    });
    await rig.say('again');
    const { request } = await rig.model.call(2);
    expect(request.messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'assistant', 'tool'],
      ...['assistant', 'user'],
    ]);
    // That the turn ended there stands between the result and what the user says next.
    expect(request.messages.at(-2)).toEqual(NO_REPLY);
  });

  it('because the adapter is broken says so, and only the log has the cause', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const cause = new TypeError('secret internals');
    (await rig.model.call(0)).fail(cause);
    const failed = await heard.event('turn.failed');
    expect(failed.error).toMatchObject({
      code: 'AGENT_ERROR',
      details: { reason: expect.stringMatching(/unexpectedly/) },
    });
    expect(JSON.stringify(await rig.logged())).not.toContain('secret internals');
    expect(rig.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ err: expect.objectContaining({ cause }) }),
      }),
    );
  });

  it('leaves nothing running: its machine is over and the next turn has its own', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('a');
    (await rig.model.call(0)).fail(new Error('no'));
    await heard.event('turn.failed', 'a');
    await rig.say('b');
    (await rig.model.call(1)).answer('yes');
    await heard.event('turn.completed', 'b');
    expect(typesOf(heard.events)).toEqual([
      ...['turn.requested', 'turn.started', 'turn.failed'],
      ...['turn.requested', 'turn.started', 'step.completed', 'turn.completed'],
    ]);
  });
});
