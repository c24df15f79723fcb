import { describe, expect } from 'vitest';
import { startAgUi } from '../../support/ag-ui/ag-ui-rig.ts';
import { recordedAgent } from '../../support/ag-ui/recorded-agent.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE = { type: 'image', source: { type: 'data', value: PIXEL, mimeType: 'image/png' } } as const;

describe('runs of AG-UI', () => {
  verifies('ag-ui.run', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('hello');
    const running = ada.run();
    const call = await rig.model.call(0);
    call.say('Hi ');
    await ada.event('TEXT_MESSAGE_CONTENT');
    call.answerWithUsage({ inputTokens: 9, outputTokens: 2, cachedTokens: 4 }, 'Ada.');
    const { newMessages } = await running;
    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'Hi Ada.' }]);
    expect(ada.types).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(ada.events[0]).toMatchObject({ threadId: 'thread-1', protocolVersion: '1.0' });
    expect(ada.last).toMatchObject({
      outcome: { type: 'success' },
      usage: [{ inputTokens: 9, outputTokens: 2, totalTokens: 11, cachedInputTokens: 4 }],
    });
    const next = ada.say('and now?').run();
    const second = await rig.model.call(1);
    expect(second.request.messages).toMatchObject([
      { role: 'user', text: 'hello' },
      { role: 'assistant', parts: [{ text: 'Hi Ada.' }] },
      { role: 'user', text: 'and now?' },
    ]);
    second.answer('Bye.');
    expect((await next).newMessages).toMatchObject([{ role: 'assistant', content: 'Bye.' }]);
  });

  verifies('ag-ui.run', 'tools of the agent, in several steps', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('look');
    const running = ada.run();
    const first = await rig.model.call(0);
    first.say('Let me look.');
    first.askFor({ name: 'look', callId: 'c1', arguments: { at: 'sky' } }, { name: 'look', callId: 'c2' });
    (await rig.tools.call(0)).answer('blue');
    (await rig.tools.call(1)).settle({ status: 'failed', reason: 'it is dark' });
    (await rig.model.call(1)).answer('It is blue.');
    const { newMessages } = await running;
    expect(ada.types).toEqual([
      ...['RUN_STARTED', 'STEP_STARTED'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      ...['STEP_FINISHED', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT'],
      ...['STEP_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['STEP_FINISHED', 'RUN_FINISHED'],
    ]);
    const called = (id: string, args: string) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: args },
    });
    expect(newMessages).toMatchObject([
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [called('c1', '{"at":"sky"}'), called('c2', '{}')],
      },
      { role: 'tool', toolCallId: 'c1', content: 'blue' },
      { role: 'tool', toolCallId: 'c2', content: 'The tool failed: it is dark' },
      { role: 'assistant', content: 'It is blue.' },
    ]);
  });

  verifies('ag-ui.reasoning', async () => {
    await using rig = await startAgUi({ llm: { keepReasoning: true } });
    const ada = recordedAgent(rig.service).say('why?');
    const running = ada.run({ runId: 'r1' });
    const call = await rig.model.call(0);
    call.think('Hm, ', 'because');
    await ada.event('REASONING_MESSAGE_CONTENT');
    call.answer('Because.');
    const { newMessages } = await running;
    const told = [
      ...['RUN_STARTED', 'STEP_STARTED', 'REASONING_START', 'REASONING_MESSAGE_START'],
      ...['REASONING_MESSAGE_CONTENT', 'REASONING_MESSAGE_END', 'REASONING_END'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'STEP_FINISHED', 'RUN_FINISHED'],
    ];
    expect([...new Set(ada.types)]).toEqual(told);
    const messages = [
      { role: 'reasoning', content: 'Hm, because' },
      { role: 'assistant', content: 'Because.' },
    ];
    expect(newMessages).toMatchObject(messages);
    // A page that asks for the run again gets the reasoning from the log, before the text.
    const again = recordedAgent(rig.service).say('why?');
    expect((await again.run({ runId: 'r1' })).newMessages).toEqual(newMessages);
    expect([...new Set(again.types)]).toEqual(told);
  });

  for (const keepReasoning of [true, false])
    verifies(
      'ag-ui.reasoning',
      `by a page that joins a step again, ${keepReasoning ? 'with' : 'without'} reasoning in the log`,
      async () => {
        await using rig = await startAgUi({ llm: { keepReasoning } });
        const ada = recordedAgent(rig.service).say('look');
        const running = ada.run({ runId: 'r1' });
        const first = await rig.model.call(0);
        first.think('Where?');
        first.askFor({ name: 'look', callId: 'c1' });
        (await rig.tools.call(0)).answer('blue');
        const call = await rig.model.call(1);
        call.think('Hm, ');
        await ada.told('Hm, ');
        ada.agent.abortRun();
        await running;
        const again = ada.run({ runId: 'r1' });
        call.think('because');
        await ada.told('because');
        call.answer('It is blue.');
        await again;
        expect(ada.agent.messages).toMatchObject([
          { role: 'user' },
          ...[{ content: 'Where?' }, { role: 'assistant' }, { content: 'blue' }],
          ...[{ role: 'reasoning', content: 'Hm, because' }, { content: 'It is blue.' }],
        ]);
      },
    );

  verifies('ag-ui.input', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service);
    ada.agent.setMessages([
      { id: 's', role: 'system', content: 'Speak French.' },
      { id: 'u1', role: 'user', content: 'hello' },
      { id: 'a1', role: 'assistant', content: 'Bonjour.' },
      {
        id: 'u2',
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          IMAGE,
          { type: 'audio', source: { type: 'url', value: 'https://example.com/a.mp3' } },
        ],
      },
    ]);
    ada.agent.setState({ cart: ['tea'] });
    const context = [{ description: 'The page', value: 'checkout' }];
    const running = ada.run({ context, forwardedProps: { theme: 'dark' } });
    const { request, ...call } = await rig.model.call(0).then((one) => ({
      request: one.request,
      answer: () => one.answer('Une image.'),
    }));
    expect(request.systemPrompt).toBe('Be brief.\n\nSpeak French.\n\nThe page: checkout');
    expect(request.messages).toMatchObject([
      { role: 'user', text: 'hello' },
      { role: 'assistant', parts: [{ text: 'Bonjour.' }] },
      { role: 'user', text: 'What is this?', images: [{ mimeType: 'image/png', base64: PIXEL }] },
    ]);
    call.answer();
    await running;
    expect(await ada.event('CUSTOM')).toMatchObject({
      name: 'warning',
      value: expect.stringContaining('messages.3.content.2 was left out'),
    });
    expect(ada.agent.state).toMatchObject({
      cart: ['tea'],
      session: { id: 'thread-1', status: 'idle', approvals: [] },
    });
  });

  verifies(
    'ag-ui.input',
    'messages whose runs have failed once, and not once more with each further run',
    async () => {
      await using rig = await startAgUi();
      const ada = recordedAgent(rig.service);
      for (const [index, text] of ['hello', 'hello?'].entries()) {
        const running = ada
          .say(text)
          .run()
          .catch(() => undefined);
        (await rig.model.call(index)).fail(new Error('away'));
        await running;
      }
      const next = ada.say('again').run();
      const call = await rig.model.call(2);
      expect(call.userText).toBe('hello\n\nhello?\n\nagain');
      call.answer('Here I am.');
      await next;
    },
  );

  verifies('ag-ui.input', 'an answered message once, also by a page that has lost its reply', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('first');
    const cut = ada.run();
    const call = await rig.model.call(0);
    await ada.event('STEP_STARTED');
    ada.agent.abortRun();
    await cut;
    call.answer('One.');
    const { agent } = ada;
    await expect.poll(async () => (await viewOf(rig.service, 'thread-1')).turns.completed).toBe(1);
    const next = ada.say('second').run();
    const second = await rig.model.call(1);
    expect(second.request.messages).toMatchObject([
      { role: 'user', text: 'first' },
      { role: 'assistant', parts: [{ text: 'One.' }] },
      { role: 'user', text: 'second' },
    ]);
    second.answer('Two.');
    await next;
    const page = recordedAgent(rig.service);
    await page.run();
    expect(page.agent.messages.map(({ content }) => content)).toEqual(['first', 'One.', 'second', 'Two.']);
    // What the page has changed is another message, although it has the same id.
    agent.setMessages([
      { id: 'user-1', role: 'user', content: 'First!' },
      { id: 'user-3', role: 'user', content: 'third' },
    ]);
    const third = ada.run();
    const last = await rig.model.call(2);
    expect(last.userText).toBe('First!\n\nthird');
    last.answer('Three.');
    await third;
  });

  verifies(
    'ag-ui.input',
    'an answered message once, by a page that has only reasoning of the reply',
    async () => {
      await using rig = await startAgUi();
      const ada = recordedAgent(rig.service).say('hello');
      const cut = ada.run();
      const call = await rig.model.call(0);
      call.think('A greeting.');
      await ada.told('A greeting.');
      ada.agent.abortRun();
      await cut;
      call.answer('Hi.');
      await expect.poll(async () => (await viewOf(rig.service, 'thread-1')).turns.completed).toBe(1);
      await ada.run();
      expect(ada.agent.messages).toMatchObject([
        { role: 'user', content: 'hello' },
        { role: 'reasoning', content: 'A greeting.' },
        { role: 'assistant', content: 'Hi.' },
      ]);
      expect((await viewOf(rig.service, 'thread-1')).turns).toMatchObject({ requested: 1, completed: 1 });
      // A page that has nothing of the reply wants another one.
      ada.agent.setMessages(ada.agent.messages.slice(0, 1));
      const other = ada.run();
      (await rig.model.call(1)).answer('Hello.');
      expect((await other).newMessages).toMatchObject([{ content: 'Hello.' }]);
    },
  );

  verifies('ag-ui.input', 'a message with several images once', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service);
    ada.agent.addMessage({ id: 'two', role: 'user', content: [IMAGE, IMAGE] });
    const cut = ada.run();
    const call = await rig.model.call(0);
    await ada.event('STEP_STARTED');
    ada.agent.abortRun();
    await cut;
    // The same message in another run, as the first one is still at work.
    const again = ada.run();
    await ada.event('STEP_STARTED');
    call.answer('Two pixels.');
    await again;
    expect(rig.model.calls).toHaveLength(1);
    ada.agent.setMessages(ada.agent.messages.slice(0, 1));
    const next = ada.say('Sure?').run();
    const second = await rig.model.call(1);
    expect(second.userText).toBe('Sure?');
    second.answer('Yes.');
    await next;
  });

  verifies('ag-ui.join', 'a message with several images is one message, in its place', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service);
    ada.agent.addMessage({ id: 'two', role: 'user', content: [IMAGE, IMAGE] });
    const cut = ada.run();
    const call = await rig.model.call(0);
    call.say('Two ');
    await ada.told('Two ');
    ada.agent.abortRun();
    await cut;
    call.answer('pixels.');
    await expect.poll(async () => (await viewOf(rig.service, 'thread-1')).turns.completed).toBe(1);
    const page = recordedAgent(rig.service);
    for (const { agent } of [ada, page]) {
      await agent.runAgent();
      expect(agent.messages).toMatchObject([
        { id: 'two', role: 'user', content: [IMAGE, IMAGE] },
        { role: 'assistant', content: 'Two pixels.' },
      ]);
    }
  });

  verifies('ag-ui.input', 'messages whose runs have failed, when the first is edited', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service);
    for (const [index, words] of ['one', 'two'].entries()) {
      const running = ada.say(words).run();
      (await rig.model.call(index)).fail(new Error('away'));
      await running;
    }
    const [first, second] = ada.agent.messages;
    if (!first || !second) throw new Error('two messages were said');
    ada.agent.setMessages([{ id: first.id, role: 'user', content: 'ONE' }, second]);
    const running = ada.run();
    const call = await rig.model.call(2);
    // What was edited comes before the newest message, which is said again.
    expect(call.userText).toMatch(/ONE\n\ntwo$/);
    call.answer('Three.');
    await running;
  });

  verifies('ag-ui.input', 'a message whose run has failed once, when it is run again', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('hello');
    for (const [index, runId] of ['r1', 'r2'].entries()) {
      const running = ada.run({ runId });
      (await rig.model.call(index)).fail(new Error('away'));
      await running;
      // The same run again tells that it has failed.
      await ada.run({ runId });
      expect(ada.last).toMatchObject({ type: 'RUN_ERROR' });
    }
    const running = ada.run({ runId: 'r3' });
    const call = await rig.model.call(2);
    expect(call.request.messages).toEqual([{ role: 'user', text: 'hello' }]);
    // Another page that tries again at the same time is told the same.
    const page = recordedAgent(rig.service).say('hello');
    const other = page.run();
    await page.event('STEP_STARTED');
    call.answer('Here I am.');
    await Promise.all([running, other]);
    expect(page.agent.messages).toEqual(ada.agent.messages);
    const late = recordedAgent(rig.service);
    await late.run();
    expect(late.agent.messages.map(({ id, content }) => [id, content])).toEqual([
      ['user-1', 'hello'],
      [expect.any(String), 'Here I am.'],
    ]);
    // What was answered is answered anew.
    const anew = recordedAgent(rig.service).say('hello');
    const again = anew.run();
    (await rig.model.call(3)).answer('Still here.');
    await again;
    expect((await viewOf(rig.service, 'thread-1')).turns).toMatchObject({ requested: 4, completed: 2 });
  });

  verifies(
    'ag-ui.join',
    'and runs again to have a message answered that was added without a run',
    async () => {
      await using rig = await startAgUi();
      const ada = recordedAgent(rig.service).say('hello');
      const running = ada.run();
      (await rig.model.call(0)).answer('Hi.');
      await running;
      const items = [{ type: 'message', role: 'user', content: 'I am Ann.' }];
      expect((await rig.service.post('/v1/conversations/thread-1/items', { items })).status).toBe(200);
      await ada.run();
      const next = ada.run();
      const call = await rig.model.call(1);
      expect(call.request.messages).toMatchObject([
        { role: 'user', text: 'hello' },
        { role: 'assistant' },
        { role: 'user', text: 'I am Ann.' },
      ]);
      expect(call.userText).toBe('I am Ann.');
      call.answer('Hello, Ann.');
      await next;
      const late = recordedAgent(rig.service);
      await late.run();
      expect(late.agent.messages).toEqual(ada.agent.messages);
    },
  );

  verifies(
    'ag-ui.join',
    'with messages that were added without a run, which the next run does not add again',
    async () => {
      await using rig = await startAgUi();
      const ada = recordedAgent(rig.service).say('hello');
      const running = ada.run();
      (await rig.model.call(0)).answer('Hi.');
      await running;
      const items = [{ type: 'message', role: 'user', content: 'I am Ann.' }];
      expect((await rig.service.post('/v1/conversations/thread-1/items', { items })).status).toBe(200);
      await ada.run();
      expect(ada.agent.messages.map(({ content }) => content)).toEqual(['hello', 'Hi.', 'I am Ann.']);
      const next = ada.say('Who am I?').run();
      const call = await rig.model.call(1);
      expect(call.userText).toBe('I am Ann.\n\nWho am I?');
      call.answer('Ann.');
      await next;
    },
  );

  verifies('ag-ui.join', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('hello');
    const running = ada.run();
    const call = await rig.model.call(0);
    call.say('Hi ');
    await ada.event('TEXT_MESSAGE_CONTENT');
    // Another page opens the thread in the middle of the reply.
    const page = recordedAgent(rig.service);
    const joined = page.run();
    expect(await page.event('MESSAGES_SNAPSHOT')).toMatchObject({
      messages: [{ id: 'user-1', role: 'user', content: 'hello' }],
    });
    await page.event('TEXT_MESSAGE_CONTENT');
    call.answer('Ada.');
    await Promise.all([running, joined]);
    expect(page.agent.messages).toEqual(ada.agent.messages);
    const late = recordedAgent(rig.service);
    await late.run();
    expect(late.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(late.agent.messages).toEqual(ada.agent.messages);
    const nobody = recordedAgent(rig.service, { threadId: 'new' });
    await nobody.run();
    expect(nobody.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
  });

  verifies('ag-ui.join', 'also of a reply that has a form, from its first character on', async () => {
    await using rig = await startAgUi();
    const asked = rig.service.post(
      '/v1/chat/completions',
      {
        model: 'default',
        messages: [{ role: 'user', content: 'Which?' }],
        response_format: { type: 'json_schema', json_schema: { name: 'o', schema: { type: 'object' } } },
      },
      { 'x-session-id': 'thread-1' },
    );
    const first = await rig.model.call(0);
    first.say('Let me look.');
    first.askFor({ name: 'look', callId: 'c1' });
    const call = await rig.tools.call(0);
    const page = recordedAgent(rig.service);
    const running = page.run();
    await page.event('RUN_STARTED');
    call.answer('blue');
    (await rig.model.call(1)).answer('{"colour":"blue"}');
    await asked;
    await running;
    const texts = page.events.flatMap((event) =>
      event.type === 'TEXT_MESSAGE_CONTENT' && 'delta' in event ? [event.delta] : [],
    );
    expect(texts.join('')).toBe('{"colour":"blue"}');
  });

  verifies('ag-ui.again', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('hello');
    const running = ada.run({ runId: 'r1' });
    const call = await rig.model.call(0);
    call.say('Hi ');
    await ada.event('TEXT_MESSAGE_CONTENT');
    ada.agent.abortRun();
    await running;
    // The page that has a part of the reply, and one that has nothing of it, ask for the same run.
    const fresh = recordedAgent(rig.service).say('hello');
    const runs = [ada.run({ runId: 'r1' }), fresh.run({ runId: 'r1' })];
    await Promise.all([ada.event('TEXT_MESSAGE_CONTENT'), fresh.event('TEXT_MESSAGE_CONTENT')]);
    call.answer('Ada.');
    await Promise.all(runs);
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'Hi Ada.' },
    ];
    expect(ada.agent.messages).toMatchObject(messages);
    expect(fresh.agent.messages).toEqual(ada.agent.messages);
    expect(rig.model.calls).toHaveLength(1);
    const other = recordedAgent(rig.service).say('something else');
    await expect(other.run({ runId: 'r1' })).rejects.toMatchObject({
      status: 422,
      payload: { error: { code: 'IDEMPOTENCY_KEY_REUSED', details: { field: 'runId' } } },
    });
  });

  verifies('ag-ui.restart', async () => {
    await using folder = await tempDirectory();
    const ada = { runId: 'r1' };
    {
      await using rig = await startAgUi({ dataDir: folder.path });
      const first = recordedAgent(rig.service).say('hello');
      const running = first.run(ada).catch(() => undefined);
      const call = await rig.model.call(0);
      call.say('Hi A');
      await first.event('TEXT_MESSAGE_CONTENT');
      await rig.service.close();
      await running;
    }
    await using rig = await startAgUi({ dataDir: folder.path });
    const second = recordedAgent(rig.service).say('hello');
    const running = second.run(ada);
    (await rig.model.call(0)).answer('Good morning.');
    expect((await running).newMessages).toMatchObject([{ role: 'assistant', content: 'Good morning.' }]);
    const { turns } = await viewOf(rig.service, 'thread-1');
    expect(turns).toMatchObject({ requested: 1, completed: 1 });
  });

  verifies('ag-ui.again', 'two runs of one thread at once have their own replies', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('first');
    const bob = recordedAgent(rig.service);
    bob.agent.addMessage({ id: 'bob-1', role: 'user', content: 'second' });
    const first = ada.run();
    const call = await rig.model.call(0);
    const second = bob.run();
    expect(await bob.event('STATE_SNAPSHOT')).toMatchObject({
      snapshot: { session: { status: 'queued' } },
    });
    call.answer('One.');
    (await rig.model.callFor('second')).answer('Two.');
    expect((await first).newMessages).toMatchObject([{ content: 'One.' }]);
    expect((await second).newMessages).toMatchObject([{ content: 'Two.' }]);
  });

  verifies('ag-ui.again', 'by a page that only follows the run of another one', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('hello');
    const running = ada.run();
    const call = await rig.model.call(0);
    const page = recordedAgent(rig.service);
    const cut = page.run({ runId: 'j1' });
    await page.event('STEP_STARTED');
    page.agent.abortRun();
    await cut;
    expect(page.agent.messages).toMatchObject([{ role: 'user', content: 'hello' }]);
    const again = page.run({ runId: 'j1' });
    await page.event('RUN_STARTED');
    call.answer('Hi.');
    await Promise.all([running, again]);
    expect(page.agent.messages).toEqual(ada.agent.messages);
    expect((await viewOf(rig.service, 'thread-1')).turns).toMatchObject({ requested: 1, completed: 1 });
  });

  verifies('ag-ui.end', async () => {
    await using rig = await startAgUi();
    const ada = recordedAgent(rig.service).say('hello');
    const failing = ada.run();
    (await rig.model.call(0)).fail(new Error('the provider is gone'));
    await failing;
    expect(ada.types).toEqual(['RUN_STARTED', 'STEP_STARTED', 'STEP_FINISHED', 'RUN_ERROR']);
    expect(ada.last).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_ERROR' });
    const cancelled = ada.say('again').run();
    const call = await rig.model.call(1);
    call.say('Well');
    await ada.event('TEXT_MESSAGE_CONTENT');
    await rig.service.post('/api/sessions/thread-1/cancel');
    await cancelled;
    expect(ada.types.slice(-3)).toEqual(['TEXT_MESSAGE_END', 'STEP_FINISHED', 'RUN_FINISHED']);
    expect(ada.last).toMatchObject({ outcome: { type: 'cancelled' } });
    const deleted = ada.say('and again').run();
    await rig.model.call(2);
    await rig.service.fetch('/api/sessions/thread-1', { method: 'DELETE' });
    await deleted;
    expect(ada.last).toMatchObject({ outcome: { type: 'cancelled' } });
  });
});
