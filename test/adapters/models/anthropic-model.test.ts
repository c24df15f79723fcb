import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { messagesInterface } from '../../../src/adapters/anthropic/messages-interface.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import type { AssistantPart, ModelMessage } from '../../../src/core/conversation/model-message.ts';
import { ModelFailure } from '../../../src/model-http/failures/model-failure.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import { providerModel } from '../../../src/model-http/provider/provider-model.ts';
import type { ModelReply, ModelRequest, ReplyPart } from '../../../src/ports/language-model.ts';
import { ReplyRecord } from '../../support/models/replies.ts';
import { closeAtOnce, listenLocally } from '../../support/sockets/local-server.ts';

const KEY = 'sk-ant-api03-test';
const MARK = { type: 'ephemeral' };

/** Fields of a body that a test looks into; `toEqual` looks at the rest. */
const Body = z.looseObject({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) });

type Answer = (response: ServerResponse) => void | Promise<void>;

interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: z.infer<typeof Body>;
}

/** Anthropic as far as a test needs it: answers each request with the next answer, the last one again and again. */
class FakeAnthropic {
  readonly asked: Asked[] = [];
  readonly #server;
  readonly #port: number;
  readonly #models = new Map<string, ReturnType<typeof providerModel>>();

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server;
    this.#port = port;
  }

  static async open(...answers: readonly Answer[]): Promise<FakeAnthropic> {
    const server = createServer(async (request, response) => {
      const body = Body.parse(JSON.parse(await readText(request)));
      fake.asked.push({ path: request.url, headers: request.headers, body });
      await (answers[fake.asked.length - 1] ?? answers.at(-1) ?? says('Hello'))(response);
    });
    await listenLocally(server);
    const address = server.address();
    const fake = new FakeAnthropic(server, typeof address === 'object' ? (address?.port ?? 0) : 0);
    return fake;
  }

  /** One model for each set of settings, as in a service. */
  model(settings: object = {}): ReturnType<typeof providerModel> {
    const key = JSON.stringify(settings);
    const known = this.#models.get(key);
    if (known) return known;
    const config = LlmConfig.parse({
      provider: 'anthropic',
      api: 'messages',
      model: 'claude-opus-4-8',
      apiKey: KEY,
      baseURL: `http://127.0.0.1:${this.#port}/v1`,
      maxRetries: 0,
      ...settings,
    });
    const access = providerEndpoint(config, {});
    const model = providerModel(access, async () => messagesInterface(access, config), config);
    this.#models.set(key, model);
    return model;
  }

  async ask({
    settings = {},
    request = {},
    listener = new ReplyRecord(),
    signal = new AbortController().signal,
  }: Ask = {}) {
    const asking = { systemPrompt: '', messages: [user('hi')], tools: [], ...request };
    const reply = await this.model(settings).generate(asking, listener, signal);
    return { reply, heard: listener, body: this.asked.at(-1)?.body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }
}

interface Ask {
  readonly settings?: object;
  readonly request?: Partial<ModelRequest>;
  readonly listener?: ReplyRecord;
  readonly signal?: AbortSignal;
}

function user(text: string): ModelMessage {
  return { role: 'user', text };
}

/** What the agent makes of a reply: calls are parsed, reasoning is gone. */
function assistant(parts: readonly ReplyPart[]): ModelMessage {
  return {
    role: 'assistant',
    parts: parts.flatMap((part): AssistantPart[] => {
      if (part.type === 'reasoning') return [];
      if (part.type !== 'toolCall') return [part];
      return [{ ...part, arguments: z.record(z.string(), z.unknown()).parse(JSON.parse(part.arguments)) }];
    }),
  };
}

function call(callId: string, name = 'weather', args: Record<string, unknown> = {}): ReplyPart {
  return { type: 'toolCall', callId, name, arguments: JSON.stringify(args) };
}

function result(callId: string, text = 'sunny', name = 'weather'): ModelMessage {
  return { role: 'tool', callId, name, text };
}

const TOOL = {
  name: 'weather',
  description: 'Tells the weather.',
  inputSchema: { type: 'object', properties: {} },
};

type Event = { readonly type: string; readonly [field: string]: unknown };

const START: Event = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};
const STOP: Event = { type: 'message_stop' };

function open(index: number, content_block: object): Event {
  return { type: 'content_block_start', index, content_block };
}

function more(index: number, delta: object): Event {
  return { type: 'content_block_delta', index, delta };
}

function close(index: number): Event {
  return { type: 'content_block_stop', index };
}

function text(index: number, ...pieces: readonly string[]): Event[] {
  const deltas = pieces.map((piece) => more(index, { type: 'text_delta', text: piece }));
  return [open(index, { type: 'text', text: '' }), ...deltas, close(index)];
}

function thinking(index: number, thought: string, signature: string): Event[] {
  return [
    open(index, { type: 'thinking', thinking: '', signature: '' }),
    more(index, { type: 'thinking_delta', thinking: thought }),
    more(index, { type: 'signature_delta', signature }),
    close(index),
  ];
}

function toolUse(index: number, id: string, ...pieces: readonly string[]): Event[] {
  const deltas = pieces.map((piece) => more(index, { type: 'input_json_delta', partial_json: piece }));
  return [open(index, { type: 'tool_use', id, name: 'weather', input: {} }), ...deltas, close(index)];
}

function end(stop_reason: string, delta: object = {}): Event[] {
  return [{ type: 'message_delta', delta: { stop_reason, ...delta }, usage: { output_tokens: 7 } }, STOP];
}

function wire(...events: readonly Event[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function streams(...events: readonly Event[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(wire(...events));
  };
}

function says(said: string): Answer {
  return streams(START, ...text(0, said), ...end('end_turn'));
}

function answers(status: number, body: unknown): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

async function failure(asking: Promise<unknown>): Promise<ModelFailure> {
  const error = await asking.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelFailure)) throw error;
  return error;
}

describe('the request of a model over the Messages API', () => {
  it('holds what is needed, marks the prefix for the cache, and sends the key as x-api-key', async () => {
    await using fake = await FakeAnthropic.open();
    await fake.ask({ request: { systemPrompt: 'Be brief.', tools: [TOOL] } });
    const [asked] = fake.asked;
    expect(asked?.path).toBe('/v1/messages');
    expect(asked?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2026-10-21' });
    expect(asked?.headers.authorization).toBeUndefined();
    expect(asked?.body).toEqual({
      model: 'claude-opus-4-8',
      max_tokens: 64_000,
      system: [{ type: 'text', text: 'Be brief.', cache_control: MARK }],
      tools: [
        {
          name: 'weather',
          description: 'Tells the weather.',
          input_schema: { type: 'object', properties: {} },
          cache_control: MARK,
        },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: MARK }] }],
      stream: true,
    });
  });

  it('sends the key of another provider as a bearer token', async () => {
    await using fake = await FakeAnthropic.open();
    await fake.ask({ settings: { provider: 'openrouter', model: 'anthropic/claude-opus-4.8' } });
    expect(fake.asked[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
    expect(fake.asked[0]?.headers['x-api-key']).toBeUndefined();
  });

  it('leaves out an empty system prompt and marks nothing where caching is switched off', async () => {
    await using fake = await FakeAnthropic.open();
    const { body } = await fake.ask({
      settings: { extraBody: { cache_control: null } },
      request: { tools: [TOOL] },
    });
    expect(body).not.toHaveProperty('system');
    expect(JSON.stringify(body)).not.toContain('cache_control');
  });

  it('has at most four cache marks, the newest on the last two messages of the user', async () => {
    await using fake = await FakeAnthropic.open();
    const messages = [
      user('one'),
      assistant([{ type: 'text', text: 'a' }]),
      user('two'),
      assistant([call('c1')]),
      result('c1'),
    ];
    const { body } = await fake.ask({ request: { systemPrompt: 'Be brief.', tools: [TOOL], messages } });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(body?.messages.map(({ content }) => JSON.stringify(content).includes('cache_control'))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it('shows images before the text', async () => {
    await using fake = await FakeAnthropic.open();
    const images = [{ base64: 'iVBORw0KGgo=', mimeType: 'image/png' }] as const;
    const messages = [{ role: 'user', text: 'what is it?', images } as const];
    const { body } = await fake.ask({ request: { messages } });
    expect(body?.messages[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'text', text: 'what is it?', cache_control: MARK },
    ]);
  });

  it('puts all results of parallel calls first into one message, under ids that Claude takes', async () => {
    await using fake = await FakeAnthropic.open();
    const messages = [
      user('go'),
      assistant([
        { type: 'text', text: 'Both.' },
        call('toolu_1', 'weather', { city: 'Oslo' }),
        call('call|2'),
      ]),
      result('toolu_1'),
      result('call|2', ''),
      user('and?'),
    ];
    const { body } = await fake.ask({
      settings: { extraBody: { cache_control: null } },
      request: { messages },
    });
    const [, asked, told] = z
      .array(z.object({ role: z.string(), content: z.array(z.looseObject({})) }))
      .parse(body?.messages);
    const id = String(asked?.content[2]?.id);
    expect(id).toMatch(/^[a-z0-9]{9}$/);
    expect(asked?.content).toEqual([
      { type: 'text', text: 'Both.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id, name: 'weather', input: {} },
    ]);
    expect(told).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' },
        { type: 'tool_result', tool_use_id: id },
        { type: 'text', text: 'and?' },
      ],
    });
  });

  it('forbids tools that are not offered any more instead of leaving them undefined', async () => {
    await using fake = await FakeAnthropic.open();
    const messages = [user('go'), assistant([call('c1')]), result('c1')];
    const { body } = await fake.ask({ request: { messages } });
    expect(body).toMatchObject({
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
  });

  it('has no empty text, and no white space behind a last word of the model', async () => {
    await using fake = await FakeAnthropic.open();
    const messages = [
      user(' \n'),
      assistant([
        { type: 'text', text: '\n' },
        { type: 'refusal', text: 'I must not. ' },
      ]),
    ];
    const { body } = await fake.ask({ request: { messages } });
    expect(body?.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: '[empty message]', cache_control: MARK }] },
      { role: 'assistant', content: [{ type: 'text', text: 'I must not.' }] },
    ]);
  });
});

describe('settings over the Messages API', () => {
  async function sent(settings: object, request: Partial<ModelRequest> = {}): Promise<Asked | undefined> {
    await using fake = await FakeAnthropic.open();
    await fake.ask({ settings, request });
    return fake.asked[0];
  }

  it('sends the token limit, stop texts, and the wish for one tool at a time', async () => {
    const settings = { maxTokens: 99, stop: ['END'], parallelToolCalls: false };
    const asked = await sent(settings, { tools: [TOOL] });
    expect(asked?.body).toMatchObject({
      max_tokens: 99,
      stop_sequences: ['END'],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect((await sent(settings))?.body).not.toHaveProperty('tool_choice');
  });

  it('sends only stop texts with a visible character: Claude refuses others', async () => {
    expect((await sent({ stop: ['\n', 'END', ' '] }))?.body).toMatchObject({ stop_sequences: ['END'] });
    expect((await sent({ stop: ['\n'] }))?.body).not.toHaveProperty('stop_sequences');
  });

  it('merges extra fields last, one level deep, and takes away those that are null', async () => {
    const extraBody = { output_config: { format: { type: 'json' } }, max_tokens: 5, stream: null, top: 1 };
    const asked = await sent({ reasoningEffort: 'low', extraBody });
    expect(asked?.body).toMatchObject({
      output_config: { effort: 'low', format: { type: 'json' } },
      max_tokens: 5,
      top: 1,
    });
    expect(asked?.body).not.toHaveProperty('stream');
  });

  it.each([
    ['claude-opus-5-5', 64_000],
    ['claude-haiku-4-5-20251001', 32_000],
    ['claude-opus-4-20250514', 32_000],
    ['claude-3-5-haiku-20241022', 8_192],
    ['some-other-model', 8_192],
  ])('lets %s say as many tokens as all of its kind can', async (model, max_tokens) => {
    expect((await sent({ model }))?.body).toMatchObject({ max_tokens });
  });

  it('asks a newer model to think by effort, and to show what it thinks', async () => {
    const thinking = { type: 'adaptive', display: 'summarized' };
    expect((await sent({ model: 'claude-opus-5-5', reasoningEffort: 'xhigh' }))?.body).toMatchObject({
      thinking,
      output_config: { effort: 'xhigh' },
    });
    expect((await sent({ model: 'claude-sonnet-4-6', reasoningEffort: 'xhigh' }))?.body).toMatchObject({
      thinking,
      output_config: { effort: 'high' },
    });
    expect((await sent({ model: 'claude-sonnet-5', reasoningEffort: 'minimal' }))?.body).toMatchObject({
      thinking,
      output_config: { effort: 'low' },
    });
  });

  it('gives an older model a budget that leaves tokens for the answer', async () => {
    const budget = async (settings: object) =>
      (await sent({ model: 'claude-haiku-4-5', ...settings }))?.body.thinking;
    expect(await budget({ reasoningEffort: 'medium' })).toEqual({ type: 'enabled', budget_tokens: 8_192 });
    expect(await budget({ reasoningEffort: 'max' })).toEqual({ type: 'enabled', budget_tokens: 24_000 });
    expect(await budget({ reasoningEffort: 'max', maxTokens: 1_100 })).toEqual({
      type: 'enabled',
      budget_tokens: 1_024,
    });
    expect(await budget({ reasoningEffort: 'max', maxTokens: 1_024 })).toBeUndefined();
  });

  it('switches thinking off as each model takes it, or to the least where a model always thinks', async () => {
    const body = async (model: string) => (await sent({ model, reasoningEffort: 'none' }))?.body;
    const disabled = [
      'claude-haiku-4-5',
      'claude-opus-4-8',
      'claude-sonnet-5',
      'claude-opus-5',
      'claude-haiku-5-5',
    ];
    for (const model of disabled)
      expect(await body(model), model).toMatchObject({ thinking: { type: 'disabled' } });
    expect(await body('claude-sonnet-5-5')).toMatchObject({ thinking: { type: 'between_tools' } });
    for (const model of ['claude-opus-5-5', 'claude-fable-5', 'claude-mythos-5-2', 'claude-opus-7']) {
      expect(await body(model), model).toMatchObject({ output_config: { effort: 'low' } });
      expect(await body(model), model).not.toHaveProperty('thinking');
    }
  });

  it('says nothing of thinking when nothing is set', async () => {
    const body = (await sent({ model: 'claude-opus-5-5' }))?.body;
    expect(body).not.toHaveProperty('thinking');
    expect(body).not.toHaveProperty('output_config');
  });

  it('sends a temperature with the version that still takes one', async () => {
    const asked = await sent({ model: 'claude-sonnet-4-6', temperature: 0 });
    expect(asked?.headers['anthropic-version']).toBe('2023-06-01');
    expect(asked?.body).toMatchObject({ temperature: 0 });
    const extra = await sent({ model: 'claude-haiku-4-5', extraBody: { top_k: 5 } });
    expect(extra?.headers['anthropic-version']).toBe('2023-06-01');
  });

  it.each([
    [{ model: 'claude-opus-5-5', temperature: 0.2 }, 'takes no llm.temperature: remove it'],
    [{ model: 'claude-haiku-4-5', topP: 0.9, reasoningEffort: 'low' }, 'takes no llm.topP while it thinks'],
    [{ model: 'claude-haiku-4-5', temperature: 1, topP: 0.9 }, 'either llm.temperature or llm.topP'],
    [{ model: 'claude-haiku-4-5', temperature: 1.5 }, 'between 0 and 1'],
  ])('names the setting that Claude would refuse: %j', async (settings, reason) => {
    await using fake = await FakeAnthropic.open();
    const { details } = await failure(fake.ask({ settings }));
    expect(details?.reason).toContain(reason);
    expect(fake.asked).toHaveLength(0);
  });
});

describe('the reply of a model over the Messages API', () => {
  it('passes text on piece by piece and counts tokens of the cache as input', async () => {
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 100,
      output_tokens: 1,
    };
    await using fake = await FakeAnthropic.open(
      streams(
        { type: 'message_start', message: { usage } },
        { type: 'ping' },
        ...text(0, 'Good', ' morning'),
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { output_tokens: 9, output_tokens_details: { thinking_tokens: 3 } },
        },
        STOP,
      ),
    );
    const { reply, heard } = await fake.ask();
    expect(heard.pieces).toEqual(['Good', ' morning']);
    expect(reply).toEqual({
      parts: [{ type: 'text', text: 'Good morning' }],
      usage: { inputTokens: 114, outputTokens: 9, cachedTokens: 100, reasoningTokens: 3 },
    });
  });

  it('has thinking, text and parallel calls in the order of their blocks', async () => {
    await using fake = await FakeAnthropic.open(
      streams(
        START,
        ...thinking(0, 'Two cities.', 'SIG1'),
        open(1, { type: 'redacted_thinking', data: 'HIDDEN' }),
        close(1),
        ...text(2, 'Both.'),
        ...toolUse(3, 'toolu_1', '', '{"city": "Os', 'lo"}'),
        ...toolUse(4, 'toolu_2', ''),
        ...end('tool_use'),
      ),
    );
    const { reply, heard } = await fake.ask();
    expect(heard.thoughts).toEqual(['Two cities.']);
    expect(reply.parts).toEqual([
      { type: 'reasoning', text: 'Two cities.' },
      { type: 'opaque', data: { type: 'thinking', thinking: 'Two cities.', signature: 'SIG1' } },
      { type: 'opaque', data: { type: 'redacted_thinking', data: 'HIDDEN' } },
      { type: 'text', text: 'Both.' },
      { type: 'toolCall', callId: 'toolu_1', name: 'weather', arguments: '{"city": "Oslo"}' },
      { type: 'toolCall', callId: 'toolu_2', name: 'weather', arguments: '{}' },
    ]);
  });

  it('takes the last signature, and keeps thinking without one for people only', async () => {
    await using fake = await FakeAnthropic.open(
      streams(
        START,
        open(0, { type: 'thinking', thinking: '', signature: 'SIG0' }),
        more(0, { type: 'signature_delta', signature: 'SIG1' }),
        more(0, { type: 'signature_delta', signature: 'SIG2' }),
        close(0),
        open(1, { type: 'thinking', thinking: 'Hm.' }),
        close(1),
        ...text(2, 'Yes.'),
        ...end('end_turn'),
      ),
    );
    const { reply } = await fake.ask();
    expect(reply.parts).toEqual([
      { type: 'opaque', data: { type: 'thinking', thinking: '', signature: 'SIG2' } },
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ]);
  });

  it('gives a call a new id where the conversation knows its id, or a server sends none', async () => {
    await using fake = await FakeAnthropic.open(
      streams(START, ...toolUse(0, 'c1'), ...toolUse(1, ''), ...end('tool_use')),
    );
    const messages = [user('go'), assistant([call('c1')]), result('c1')];
    const { reply } = await fake.ask({ request: { messages } });
    const ids = reply.parts.map((part) => (part.type === 'toolCall' ? part.callId : ''));
    expect(new Set(['c1', ...ids]).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^toolu_\w{32}$/);
  });

  it('reads a message that comes whole', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'SIG' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
    ];
    const usage = { input_tokens: 3, output_tokens: 4 };
    await using fake = await FakeAnthropic.open(
      answers(200, { type: 'message', role: 'assistant', content, stop_reason: 'tool_use', usage }),
    );
    const { reply, heard } = await fake.ask();
    expect(heard).toMatchObject({ pieces: ['Let me look.'], thoughts: ['Hm.'] });
    expect(reply).toEqual({
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'opaque', data: content[0] },
        { type: 'text', text: 'Let me look.' },
        { type: 'toolCall', callId: 'toolu_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      ],
      usage: { inputTokens: 3, outputTokens: 4 },
    });
  });

  it('reads characters and events that are split between packets', async () => {
    const bytes = Buffer.from(wire(START, ...text(0, 'Grüße 👋'), ...end('end_turn')));
    await using fake = await FakeAnthropic.open(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0; at < bytes.length; at += 1) {
        if (!response.write(bytes.subarray(at, at + 1))) await once(response, 'drain');
      }
      response.end();
    });
    expect((await fake.ask()).heard.pieces.join('')).toBe('Grüße 👋');
  });

  it('skips events, blocks and deltas that are new', async () => {
    await using fake = await FakeAnthropic.open(
      streams(
        START,
        { type: 'message_progress', progress: 0.5 },
        open(0, { type: 'new_block' }),
        more(0, { type: 'new_delta', text: 'no' }),
        close(0),
        more(1, { type: 'citations_delta', citation: { cited_text: 'no' } }),
        ...text(1, 'Here.'),
        ...end('end_turn'),
      ),
    );
    expect((await fake.ask()).reply.parts).toEqual([{ type: 'text', text: 'Here.' }]);
  });

  it.each([
    ['end_turn', undefined],
    ['stop_sequence', undefined],
    ['pause_turn', undefined],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
  ])('ends by %s with finish reason %s', async (reason, finishReason) => {
    await using fake = await FakeAnthropic.open(streams(START, ...text(0, 'Well'), ...end(reason)));
    const reply: ModelReply = (await fake.ask()).reply;
    expect(reply.finishReason).toBe(finishReason);
  });
});

describe('failures of a model over the Messages API', () => {
  it('tells that a filter stopped the reply, and which', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'secret' };
    await using fake = await FakeAnthropic.open(
      streams(START, ...text(0, 'First'), ...end('refusal', { stop_details })),
    );
    const { details } = await failure(fake.ask());
    expect(details).toMatchObject({ refused: 'content' });
    expect(details?.reason).toContain('content filter of Anthropic stopped the reply (refusal: cyber)');
  });

  it('takes a call that the token limit cut for no call', async () => {
    for (const pieces of [['{"city": "Os'], []]) {
      await using fake = await FakeAnthropic.open(
        streams(START, ...toolUse(0, 'toolu_1', ...pieces), ...end('max_tokens')),
      );
      expect((await failure(fake.ask())).details?.reason).toContain(
        'in the middle of a tool call; raise llm.maxTokens',
      );
    }
  });

  it.each([
    ['nothing', []],
    ['thoughts', thinking(0, 'Hm.', 'SIG')],
    ['a part of a call', toolUse(0, 'toolu_1', '{"city": "Os')],
  ])('calls the conversation too long where its window had room for no more than %s', async (_what, said) => {
    await using fake = await FakeAnthropic.open(
      streams(START, ...said, ...end('model_context_window_exceeded')),
    );
    const { details } = await failure(fake.ask());
    expect(details).toMatchObject({
      refused: 'context',
      reason: expect.stringContaining('too long for model'),
    });
  });

  it('fails when the stream ends before the message does, or with a reason that nobody knows', async () => {
    await using fake = await FakeAnthropic.open(
      streams(START, ...text(0, 'Half')),
      streams(START, ...text(0, 'Odd'), ...end('compaction')),
    );
    expect((await failure(fake.ask())).details?.reason).toContain('ended before the reply was complete');
    expect((await failure(fake.ask())).details?.reason).toContain(
      'ended the reply with an error (compaction)',
    );
  });

  it('reports an error event in the middle of a reply', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    await using fake = await FakeAnthropic.open(streams(START, ...text(0, 'Half'), error));
    const heard = new ReplyRecord();
    const { details } = await failure(fake.ask({ listener: heard }));
    expect(heard.pieces).toEqual(['Half']);
    expect(details).toMatchObject({ code: 'overloaded_error' });
    expect(details?.reason).toMatch(/overloaded; try again later/);
  });

  it('reports an error status without what the provider wrote', async () => {
    const message = `invalid x-api-key ${KEY}`;
    await using fake = await FakeAnthropic.open(
      answers(401, { type: 'error', error: { type: 'authentication_error', message } }),
    );
    const { details } = await failure(fake.ask());
    expect(details).toMatchObject({ status: 401, code: 'authentication_error' });
    expect(details?.reason).toContain('check llm.apiKey');
    expect(JSON.stringify(details)).not.toContain(KEY);
  });

  it('repeats an overloaded request as long as nothing was heard', async () => {
    const overloaded: Answer = (response) => {
      response.writeHead(529, { 'content-type': 'application/json', 'retry-after-ms': '0' });
      response.end('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}');
    };
    await using fake = await FakeAnthropic.open(overloaded, says('Now'));
    const { heard } = await fake.ask({ settings: { maxRetries: 1 } });
    expect(heard.pieces).toEqual(['Now']);
    expect(fake.asked).toHaveLength(2);
  });

  it('never loses text silently: a broken event is a failure', async () => {
    await using fake = await FakeAnthropic.open((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${wire(START)}data: {"type": "content_block_del\n\n${wire(...end('end_turn'))}`);
    });
    expect((await failure(fake.ask())).details?.reason).toContain('sent a broken event');
  });

  it('says so when something answers that speaks another interface', async () => {
    const chunk = { object: 'chat.completion.chunk', type: 'chunk', choices: [] };
    await using fake = await FakeAnthropic.open(streams(chunk), answers(200, { choices: [] }));
    expect((await failure(fake.ask())).details?.reason).toContain('sent no message; check that llm.baseURL');
    expect((await failure(fake.ask())).details?.reason).toContain('sent no message; check that llm.baseURL');
  });

  it('ends the request at once when it is aborted in the middle', async () => {
    const controller = new AbortController();
    const closed = Promise.withResolvers<void>();
    await using fake = await FakeAnthropic.open((response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(wire(START, ...text(0, 'Half', ' more')));
    });
    const heard = new ReplyRecord(() => controller.abort());
    await expect(fake.ask({ listener: heard, signal: controller.signal })).rejects.toThrow();
    await closed.promise;
    expect(heard.pieces).toEqual(['Half']);
  });
});

describe('thinking that goes back over the Messages API', () => {
  const uncached = { extraBody: { cache_control: null } };
  /** With a field that nobody knows yet, in an order that no code of ours would choose. */
  const block = { zeta: 1, type: 'thinking', thinking: 'Wörter "hier"', signature: 'SIG/1+=' };
  const asks = streams(
    START,
    open(0, { ...block, thinking: '', signature: '' }),
    more(0, { type: 'thinking_delta', thinking: block.thinking }),
    more(0, { type: 'signature_delta', signature: block.signature }),
    close(0),
    ...text(1, 'I look.'),
    ...toolUse(2, 'toolu_1', '{"city":"Oslo"}'),
    ...end('tool_use'),
  );

  function thinkingIn(fake: FakeAnthropic): boolean {
    return JSON.stringify(fake.asked.at(-1)?.body).includes('SIG/1+=');
  }

  it('is, in the same turn, byte for byte what came', async () => {
    await using fake = await FakeAnthropic.open(asks, says('Sunny'));
    const request = { tools: [TOOL], messages: [user('weather?')] };
    const { reply } = await fake.ask({ settings: uncached, request });
    const messages = [...request.messages, assistant(reply.parts), result('toolu_1')];
    const { body } = await fake.ask({ settings: uncached, request: { ...request, messages } });
    expect(JSON.stringify(body?.messages[1]?.content)).toBe(
      `[${JSON.stringify(block)},{"type":"text","text":"I look."},` +
        '{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]',
    );
  });

  it('is left out once the user has said something else', async () => {
    await using fake = await FakeAnthropic.open(asks, says('Sunny'));
    const request = { tools: [TOOL], messages: [user('weather?')] };
    const { reply } = await fake.ask({ request });
    const messages = [
      ...request.messages,
      assistant(reply.parts),
      result('toolu_1'),
      assistant([{ type: 'text', text: 'Sunny' }]),
      user('thanks'),
    ];
    await fake.ask({ request: { ...request, messages } });
    expect(thinkingIn(fake)).toBe(false);
  });

  it('is left out when the tools, the system prompt or an earlier message have changed since', async () => {
    await using fake = await FakeAnthropic.open(asks, says('Sunny'));
    const earlier = [user('hi'), assistant([{ type: 'text', text: 'Hello.' }])];
    const request = { systemPrompt: 'Be brief.', tools: [TOOL], messages: [...earlier, user('weather?')] };
    const { reply } = await fake.ask({ request });
    const step = [assistant(reply.parts), result('toolu_1')];
    const next = { ...request, messages: [...request.messages, ...step] };
    await fake.ask({ request: next });
    expect(thinkingIn(fake)).toBe(true);
    const changes = [
      { systemPrompt: 'Be long.' },
      { tools: [TOOL, { ...TOOL, name: 'news' }] },
      { messages: [user('weather?'), ...step] },
    ];
    for (const change of changes) {
      await fake.ask({ request: { ...next, ...change } });
      expect(thinkingIn(fake)).toBe(false);
    }
  });

  it('stays apart from the texts around it, and never ends a message', async () => {
    await using fake = await FakeAnthropic.open();
    const opaque = (signature: string) =>
      ({ type: 'opaque', data: { type: 'thinking', thinking: '', signature } }) as const;
    const said = (words: string) => ({ type: 'text', text: words }) as const;
    const messages = [
      user('go'),
      assistant([opaque('A'), said('One.'), opaque('B'), said('Two.'), said('Three.'), opaque('C')]),
    ];
    const { body } = await fake.ask({ request: { messages } });
    expect(body?.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: '', signature: 'A' },
      { type: 'text', text: 'One.' },
      { type: 'thinking', thinking: '', signature: 'B' },
      { type: 'text', text: 'Two.' },
      { type: 'text', text: 'Three.' },
    ]);
  });

  it('is not asked of an older model in a turn that it has begun without', async () => {
    await using fake = await FakeAnthropic.open();
    const settings = { model: 'claude-haiku-4-5', reasoningEffort: 'low' };
    const begun = [user('go'), assistant([call('c1')]), result('c1')];
    const later = await fake.ask({ settings, request: { tools: [TOOL], messages: begun } });
    expect(later.body).not.toHaveProperty('thinking');
    const messages = [...begun, assistant([{ type: 'text', text: 'Sunny' }]), user('thanks')];
    const next = await fake.ask({ settings, request: { tools: [TOOL], messages } });
    expect(next.body).toHaveProperty('thinking');
  });
});
