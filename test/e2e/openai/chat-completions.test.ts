import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  systemPrompt: 'Be brief.',
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

class Rig implements AsyncDisposable {
  readonly service: RunningService;
  readonly model: DirectedModel;
  readonly client: OpenAI;

  private constructor(service: RunningService, model: DirectedModel) {
    this.service = service;
    this.model = model;
    this.client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  }

  static async start(options: ServiceOptions = {}): Promise<Rig> {
    const model = new DirectedModel();
    return new Rig(await RunningService.start({ yaml: YAML, adapters: { model }, ...options }), model);
  }

  /** Asks for a reply to these messages. */
  ask(
    messages: OpenAI.ChatCompletionMessageParam[],
    more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {},
    options: OpenAI.RequestOptions = {},
  ) {
    return this.client.chat.completions.create({ model: 'default', messages, ...more }, options);
  }

  /** The same, with the headers of the answer, while the model answers its call of that number. */
  async answered(
    call: number,
    answer: string,
    messages: OpenAI.ChatCompletionMessageParam[],
    more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {},
  ) {
    const asked = this.ask(messages, more).withResponse();
    (await this.model.call(call)).answer(answer);
    const { data, response } = await asked;
    return { data, sessionId: response.headers.get('X-Session-Id') ?? '' };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service.close();
  }
}

const user = (content: string) => ({ role: 'user' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });

describe('OpenAI’s chat completions', () => {
  verifies('openai.models', async () => {
    await using rig = await Rig.start();
    const { data } = await rig.client.models.list();
    expect(data.map(({ id }) => id)).toEqual(['default']);
    expect(await rig.client.models.retrieve('default')).toMatchObject({ id: 'default', object: 'model' });
    await expect(rig.client.models.retrieve('gpt-4o')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  verifies('openai.models', 'of several, each by its name', async () => {
    const other = JSON.stringify({
      llm: { provider: 'scripted', model: 'offline', script: [{ when: '.', reply: 'I am b.' }] },
    });
    await using service = await RunningService.start({ agents: { a: YAML, b: other } });
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['a', 'b']);
    const messages = [user('who are you?')];
    const reply = await client.chat.completions.create({ model: 'b', messages });
    expect([reply.model, reply.choices[0]?.message.content]).toEqual(['b', 'I am b.']);
    const alone = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/agents/b/v1`, apiKey: 'none' });
    expect((await alone.models.list()).data.map(({ id }) => id)).toEqual(['b']);
    await expect(alone.chat.completions.create({ model: 'a', messages })).rejects.toThrow(
      'There is no model a',
    );
  });

  verifies('openai.chat', async () => {
    await using rig = await Rig.start();
    const asked = rig.ask([user('hello')]);
    const usage = { inputTokens: 12, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2 };
    (await rig.model.call(0)).answerWithUsage(usage, 'Hello', ' there');
    const completion = await asked;
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'default',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 5,
        total_tokens: 17,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
    expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60);
  });

  verifies('openai.chat', 'an empty reply, and one that a limit has cut', async () => {
    await using rig = await Rig.start();
    const { sessionId } = await rig.answered(0, '', [user('say nothing')]);
    expect(await viewOf(rig.service, sessionId)).toMatchObject({ turns: { completed: 1 } });
    const asked = rig.ask([user('be cut')]);
    const call = await rig.model.call(1);
    call.say('half a');
    call.end({ finishReason: 'length' });
    expect((await asked).choices[0]).toMatchObject({
      message: { content: 'half a' },
      finish_reason: 'length',
    });
  });

  verifies('openai.stream', async () => {
    await using rig = await Rig.start();
    const stream = rig.client.chat.completions.stream({
      model: 'default',
      messages: [user('hello')],
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    stream.on('content', (delta) => pieces.push(delta));
    const call = await rig.model.call(0);
    call.say('Hé', 'llo "you"\n', '🙂');
    call.end({ usage: { inputTokens: 1, outputTokens: 2 } });
    const final = await stream.finalChatCompletion();
    expect(pieces.join('')).toBe('Héllo "you"\n🙂');
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Héllo "you"\n🙂' },
    });
    expect(final.usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
  });

  verifies('openai.stream', 'and an error in the middle is an error of the SDK', async () => {
    await using rig = await Rig.start();
    const stream = await rig.client.chat.completions.create({
      model: 'default',
      messages: [user('hello')],
      stream: true,
    });
    const pieces: unknown[] = [];
    const reading = (async () => {
      for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content);
    })();
    const call = await rig.model.call(0);
    call.say('Hel');
    call.fail(new Error('the provider is gone'));
    await expect(reading).rejects.toMatchObject({ code: 'agent_error', type: 'server_error' });
  });

  verifies('openai.given', async () => {
    await using rig = await Rig.start();
    const { sessionId } = await rig.answered(0, 'Blue.', [
      { role: 'system', content: 'You are a pirate.' },
      user('Remember 7.'),
      assistant('I will.'),
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PIXEL } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a pixel' },
      assistant('A pixel.'),
      user('Which colour?'),
    ]);
    const { messages, systemPrompt } = (await rig.model.call(0)).request;
    expect(systemPrompt).toBe('Be brief.\n\nYou are a pirate.');
    expect(messages).toMatchObject([
      { role: 'user', text: 'Remember 7.' },
      { role: 'assistant', parts: [{ text: 'I will.' }] },
      { role: 'user', text: 'What is this?', images: [{ mimeType: 'image/png' }] },
      {
        role: 'assistant',
        parts: [{ type: 'toolCall', callId: 'c1', name: 'look', arguments: { at: 'it' } }],
      },
      { role: 'tool', callId: 'c1', name: 'look', text: 'a pixel' },
      { role: 'assistant', parts: [{ text: 'A pixel.' }] },
      { role: 'user', text: 'Which colour?' },
    ]);
    const exported = await rig.service.fetch(`/api/sessions/${sessionId}/export`);
    const [line = ''] = (await exported.text()).split('\n');
    expect(JSON.parse(line).event).toMatchObject({
      type: 'turn.requested',
      text: 'Which colour?',
      options: { instructions: 'You are a pirate.' },
      given: [
        { role: 'user', text: 'Remember 7.' },
        { role: 'assistant', text: 'I will.' },
        { role: 'user', text: 'What is this?' },
        { role: 'assistant', calls: [{ callId: 'c1', name: 'look', arguments: { at: 'it' } }] },
        { role: 'tool', callId: 'c1', text: 'a pixel' },
        { role: 'assistant', text: 'A pixel.' },
      ],
    });
    const { title, history } = await viewOf(rig.service, sessionId);
    expect([title, history.length, history.at(-1)?.content]).toEqual(['Remember 7.', 8, 'Blue.']);
  });

  verifies('openai.given', 'also if it begins with a reply', async () => {
    await using rig = await Rig.start();
    await rig.answered(0, 'Ann.', [assistant('I am Ann.'), user('Who are you?')]);
    expect((await rig.model.call(0)).request.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ text: 'I am Ann.' }] },
      { role: 'user', text: 'Who are you?' },
    ]);
  });

  verifies('openai.given', 'also if it ends with an empty message', async () => {
    await using rig = await Rig.start();
    await rig.answered(0, 'Go on.', [user('I am Ann.'), assistant('Hello Ann.'), user('')]);
    const { messages } = (await rig.model.call(0)).request;
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  verifies('openai.given', 'and is still there after a restart', async () => {
    await using folder = await tempDirectory();
    let sessionId = '';
    {
      await using rig = await Rig.start({ dataDir: folder.path });
      ({ sessionId } = await rig.answered(0, 'three', [user('one'), assistant('two'), user('and then?')]));
    }
    await using rig = await Rig.start({ dataDir: folder.path });
    await rig.answered(0, 'five', [user('four?')], { metadata: { session_id: sessionId } });
    const { messages } = (await rig.model.call(0)).request;
    expect(messages).toMatchObject([
      { text: 'one' },
      { parts: [{ text: 'two' }] },
      { text: 'and then?' },
      { parts: [{ text: 'three' }] },
      { text: 'four?' },
    ]);
  });

  verifies('openai.session', async () => {
    await using rig = await Rig.start();
    const metadata = { session_id: 'trip' };
    const first = await rig.answered(0, 'Hello Ann.', [user('I am Ann.')], { metadata });
    expect(first.sessionId).toBe('trip');
    await rig.service.post('/api/message', { message: 'and in Rome', sessionId: 'trip' });
    (await rig.model.call(1)).answer('Nice.');
    const history = [user('I am Ann.'), assistant('Hello Ann.'), user('Who am I?')];
    const second = await rig.answered(2, 'Ann.', history, { metadata });
    expect(second.data.choices[0]?.message.content).toBe('Ann.');
    const { messages } = (await rig.model.call(2)).request;
    expect(messages).toMatchObject([
      { text: 'I am Ann.' },
      { parts: [{ text: 'Hello Ann.' }] },
      { text: 'and in Rome' },
      { parts: [{ text: 'Nice.' }] },
      { text: 'Who am I?' },
    ]);
    const byHeader = rig.ask([user('Where?')], {}, { headers: { 'X-Session-Id': 'trip' } });
    (await rig.model.call(3)).answer('In Rome.');
    expect((await byHeader).choices[0]?.message.content).toBe('In Rome.');
    expect(await viewOf(rig.service, 'trip')).toMatchObject({ turns: { completed: 4 } });
  });

  verifies('openai.session', 'and has a message whose turn failed once', async () => {
    await using rig = await Rig.start();
    const named = { headers: { 'X-Session-Id': 'trip' } };
    const failing = rig.ask([user('hello')], {}, named);
    (await rig.model.call(0)).fail(new Error('away'));
    await expect(failing).rejects.toThrow();
    const next = rig.ask([user('hello'), user('again')], {}, named);
    const call = await rig.model.call(1);
    expect(call.userText).toBe('hello\n\nagain');
    call.answer('Here I am.');
    await next;
  });

  verifies('openai.settings', async () => {
    await using rig = await Rig.start();
    await rig.answered(0, 'ok', [user('hello')], {
      temperature: 0.1,
      top_p: 0.5,
      stop: ['END'],
      seed: 7,
      max_completion_tokens: 40,
    });
    expect((await rig.model.call(0)).request.settings).toMatchObject({
      temperature: 0.1,
      topP: 0.5,
      stop: ['END'],
      seed: 7,
      maxTokens: 40,
    });
    await rig.answered(1, 'ok', [user('hello')]);
    expect((await rig.model.call(1)).request.settings).toBeUndefined();
  });

  verifies('openai.stop', 'without a stream, too', async () => {
    await using rig = await Rig.start();
    const leave = async (call: number, headers: Record<string, string>) => {
      const stop = new AbortController();
      const refused = expect(
        rig.client.chat.completions.create(
          { model: 'default', messages: [user('talk')] },
          { headers, signal: stop.signal },
        ),
      ).rejects.toThrow();
      const asked = await rig.model.call(call);
      stop.abort();
      await refused;
      return asked;
    };
    const named = await leave(0, { 'X-Session-Id': 'kept' });
    const keyed = await leave(1, { 'Idempotency-Key': 'k' });
    // It has left last, so that the service knows by now of all three.
    await (await leave(2, {})).aborted;
    for (const { signal } of [named, keyed]) expect(signal.aborted).toBe(false);
    keyed.answer('I talk');
    const again = await rig.client.chat.completions.create(
      { model: 'default', messages: [user('talk')] },
      { headers: { 'Idempotency-Key': 'k' } },
    );
    expect(again.choices[0]?.message.content).toBe('I talk');
  });

  verifies('openai.stop', async () => {
    await using rig = await Rig.start();
    const leave = async (call: number, headers: Record<string, string>) => {
      const stop = new AbortController();
      const { data: stream, response } = await rig.client.chat.completions
        .create(
          { model: 'default', messages: [user('talk')], stream: true },
          { headers, signal: stop.signal },
        )
        .withResponse();
      const asked = await rig.model.call(call);
      asked.say('I talk');
      for await (const { choices } of stream) if (choices[0]?.delta.content) break;
      stop.abort();
      return { asked, sessionId: response.headers.get('X-Session-Id') ?? '' };
    };
    const unnamed = await leave(0, {});
    await unnamed.asked.aborted;
    const named = await leave(1, { 'X-Session-Id': 'kept' });
    named.asked.answer(' on');
    const next = await rig.answered(2, 'Yes.', [user('Did you?')], { metadata: { session_id: 'kept' } });
    expect(next.sessionId).toBe('kept');
    const { messages } = (await rig.model.call(2)).request;
    expect(messages).toMatchObject([{ text: 'talk' }, { parts: [{ text: 'I talk on' }] }, {}]);
    const keyed = await leave(3, { 'Idempotency-Key': 'k' });
    keyed.asked.answer(' on');
    const again = await rig.client.chat.completions.create(
      { model: 'default', messages: [user('talk')], stream: true },
      { headers: { 'Idempotency-Key': 'k' } },
    );
    let text = '';
    for await (const { choices } of again) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('I talk on');
    expect(rig.model.calls).toHaveLength(4);
  });

  verifies('openai.errors', async () => {
    await using rig = await Rig.start();
    const refused = (messages: unknown[], more: object = {}) =>
      rig.service
        .post('/v1/chat/completions', { model: 'default', messages, ...more })
        .then(async (response) => ({ status: response.status, ...Object(await response.json()).error }));
    const hello = [user('hello')];
    expect(await refused([])).toMatchObject({ status: 400, param: 'messages' });
    expect(await refused([assistant('hello')])).toMatchObject({ status: 400, param: 'messages.0' });
    expect(await refused([{ role: 'tool', tool_call_id: 'x', content: 'y' }, ...hello])).toMatchObject({
      status: 400,
      param: 'messages.0.tool_call_id',
    });
    expect(await refused([{ role: 'robot', content: 'x' }])).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'messages.0.role',
    });
    const far = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }];
    expect(await refused([{ role: 'user', content: far }])).toMatchObject({
      status: 400,
      param: 'messages.0.content.0.image_url.url',
    });
    expect(await refused(hello, { n: 2 })).toMatchObject({ status: 400, param: 'n' });
    expect(await refused(hello, { model: undefined })).toMatchObject({ status: 400, param: 'model' });
    expect(await refused(hello, { model: 'gpt-4o' })).toMatchObject({
      status: 404,
      type: 'not_found_error',
      code: 'model_not_found',
      param: 'model',
    });
    expect(await refused(hello, { metadata: { session_id: 'a b' } })).toMatchObject({
      status: 400,
      param: 'metadata.session_id',
    });
    const lost = await rig.service.fetch('/v1/completions', { method: 'POST' });
    expect([lost.status, Object(await lost.json()).error.type]).toEqual([400, 'invalid_request_error']);
    const failing = rig.ask(hello);
    (await rig.model.call(0)).fail(new Error('no'));
    await expect(failing).rejects.toMatchObject({ status: 500, code: 'agent_error' });
    expect(rig.model.calls).toHaveLength(1);
  });

  verifies('openai.errors', 'and what is too large is sent once', async () => {
    await using rig = await Rig.start({ yaml: `${SCRIPTED}limits: { requestBytes: 1000 }` });
    let sent = 0;
    const counting: typeof fetch = (...request) => {
      sent += 1;
      return fetch(...request);
    };
    const client = new OpenAI({ baseURL: rig.client.baseURL, apiKey: 'none', fetch: counting });
    const messages = [user('x'.repeat(2000))];
    await expect(client.chat.completions.create({ model: 'default', messages })).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
    });
    expect(sent).toBe(1);
  });

  verifies('openai.key', async () => {
    await using rig = await Rig.start();
    const ask = () => rig.ask([user('pay')], {}, { headers: { 'Idempotency-Key': 'k1' } }).withResponse();
    const first = ask();
    (await rig.model.call(0)).answer('paid');
    const one = await first;
    const two = await ask();
    expect(two.data).toEqual({ ...one.data, created: two.data.created });
    expect(two.response.headers.get('X-Session-Id')).toBe(one.response.headers.get('X-Session-Id'));
    expect(rig.model.calls).toHaveLength(1);
  });

  verifies('openai.front-end', async () => {
    await using rig = await Rig.start();
    const { client, model } = rig;
    const stream = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.stream({ model: 'default', messages });
    const chats = Array.from({ length: 8 }, (_, index) => stream([user(`chat ${index}`)]));
    for (let index = 0; index < 8; index += 1)
      (await model.callFor(`chat ${index}`)).answer('Re', `: ${index}`);
    const texts = await Promise.all(chats.map((chat) => chat.finalContent()));
    expect(texts).toEqual(chats.map((_, index) => `Re: ${index}`));
    // Regenerated: the same conversation again, without the reply.
    const again = stream([user('chat 3')]);
    (await model.call(8)).answer('Anew');
    expect(await again.finalContent()).toBe('Anew');
    expect((await model.call(8)).request.messages).toMatchObject([{ text: 'chat 3' }]);
    // A title, asked for as front ends do.
    const title = rig.ask([
      { role: 'system', content: 'Write titles.' },
      user('chat 3'),
      assistant('Anew'),
      user('Write a title.'),
    ]);
    (await model.call(9)).answer('Chats');
    expect((await title).choices[0]?.message.content).toBe('Chats');
    const { sessions } = Object(await (await rig.service.fetch('/api/sessions')).json());
    expect(sessions).toHaveLength(10);
  });
});
