import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { responsesInterface } from '../../../src/adapters/openai/responses/responses-interface.ts';
import { ResponsesReader } from '../../../src/adapters/openai/responses/responses-reader.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { modelConversation } from '../../../src/core/conversation/model-conversation.ts';
import type { AssistantPart, ModelMessage } from '../../../src/core/conversation/model-message.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import { providerModel } from '../../../src/model-http/provider/provider-model.ts';
import type { LanguageModel, ModelReply, ModelRequest } from '../../../src/ports/language-model.ts';
import { namedEvents } from '../../providers/wire-shape.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | readonly Uint8Array[];
  /** The connection stays open behind the body. */
  readonly isOpen?: boolean;
}

const Body = z.looseObject({ model: z.string(), input: z.array(z.looseObject({})) });

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: z.infer<typeof Body>;
}

/** A server that gives one answer to each request, the last one to all further ones. */
class Provider implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Resolves when a client closes the connection before the answer is complete. */
  readonly aborted: Promise<void>;
  readonly #server: Server;

  private constructor(answers: readonly Answer[]) {
    const aborted = Promise.withResolvers<void>();
    this.aborted = aborted.promise;
    this.#server = createServer(async (request, response) => {
      const text = await textOf(request);
      const answer = answers[this.received.length] ?? answers.at(-1) ?? { body: '' };
      this.received.push({
        path: request.url,
        headers: request.headers,
        text,
        body: Body.parse(JSON.parse(text)),
      });
      response.once('close', () => {
        if (!response.writableFinished) aborted.resolve();
      });
      const { status = 200, body, isOpen = false } = answer;
      const type = answer.type ?? (status === 200 ? 'text/event-stream' : 'application/json');
      response.writeHead(status, { 'content-type': type });
      for (const piece of typeof body === 'string' ? [body] : body) {
        // Each in a packet of its own.
        await new Promise((resolve) => response.write(piece, resolve));
      }
      if (!isOpen) response.end();
    });
  }

  static async listen(...answers: Answer[]): Promise<Provider> {
    const provider = new Provider(answers);
    await listenLocally(provider.#server);
    return provider;
  }

  model(settings: Record<string, unknown> = {}): LanguageModel {
    const config = LlmConfig.parse({
      provider: 'openai',
      api: 'responses',
      model: 'gpt-test',
      apiKey: 'sk-test',
      baseURL: `${originOf(this.#server)}/v1`,
      maxRetries: 0,
      ...settings,
    });
    const access = providerEndpoint(config, {});
    return providerModel(access, async () => responsesInterface(access, config), config);
  }

  get only(): Received {
    const [first, ...more] = this.received;
    if (!first || more.length > 0) throw new Error('not one request');
    return first;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }
}

interface Heard {
  readonly reply: ModelReply;
  readonly texts: readonly string[];
  readonly reasoning: readonly string[];
}

async function ask(model: LanguageModel, request: Partial<ModelRequest> = {}): Promise<Heard> {
  const texts: string[] = [];
  const reasoning: string[] = [];
  const listener = {
    onText: (text: string) => void texts.push(text),
    onReasoning: (text: string) => void reasoning.push(text),
  };
  const messages: ModelMessage[] = [{ role: 'user', text: 'hi' }];
  const whole = { systemPrompt: '', messages, tools: [], ...request };
  const reply = await model.generate(whole, listener, new AbortController().signal);
  return { reply, texts, reasoning };
}

/** What the answer makes of one question. */
async function hear(body: string | readonly Uint8Array[], type?: string): Promise<Heard> {
  await using provider = await Provider.listen({ body, ...(type !== undefined && { type }) });
  return await ask(provider.model());
}

async function failure(answer: Answer, request: Partial<ModelRequest> = {}): Promise<ServiceError> {
  await using provider = await Provider.listen(answer);
  const error: unknown = await ask(provider.model(), request).catch((thrown: unknown) => thrown);
  if (!(error instanceof ServiceError)) throw new Error('did not fail as it should', { cause: error });
  return error;
}

const CREATED = { type: 'response.created', response: { object: 'response', status: 'in_progress' } };
const OPENING = namedEvents(CREATED);

function response(status: string, more: object = {}): object {
  return { id: 'resp_1', object: 'response', status, error: null, output: [], usage: null, ...more };
}

/** An event with the response as it ends. */
function end(status: string, more: object = {}) {
  return { type: `response.${status}`, response: response(status, more) };
}

function completed(more: object = {}) {
  return end('completed', more);
}

function delta(output_index: number, piece: string) {
  return {
    type: 'response.output_text.delta',
    output_index,
    content_index: 0,
    delta: piece,
    obfuscation: 'x',
  };
}

function message(text: string, more: object = {}): object {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content, ...more };
}

function added(output_index: number, item: object) {
  return { type: 'response.output_item.added', output_index, item };
}

function done(output_index: number, item: object) {
  return { type: 'response.output_item.done', output_index, item };
}

function call(callId: string, name: string, args: string, more: object = {}): object {
  return { id: `fc_${callId}`, type: 'function_call', call_id: callId, name, arguments: args, ...more };
}

function args(output_index: number, piece: string) {
  return { type: 'response.function_call_arguments.delta', output_index, delta: piece };
}

const REASONING = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hmm.' }],
  encrypted_content: 'gAAAA+/=é',
  status: 'completed',
};

const TEXT_REPLY = namedEvents(
  CREATED,
  delta(0, 'Hel'),
  delta(0, 'lo'),
  done(0, message('Hello')),
  completed(),
);

describe('the request of the Responses API', () => {
  it('asks for a stream that is not stored, with encrypted reasoning, and holds nothing that is not needed', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    await ask(provider.model());
    const { path, headers, body } = provider.only;
    expect(path).toBe('/v1/responses');
    expect(headers.authorization).toBe('Bearer sk-test');
    expect(body).toEqual({
      model: 'gpt-test',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
  });

  it('has no authorization without a key', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    await ask(provider.model({ provider: 'openai-compatible', apiKey: undefined }));
    expect(provider.only.headers).not.toHaveProperty('authorization');
  });

  it('has a field for each setting', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    const settings = {
      temperature: 0,
      topP: 0.5,
      maxTokens: 99,
      reasoningEffort: 'low',
      parallelToolCalls: false,
    };
    const tools = [
      { name: 'search', description: 'Finds.', inputSchema: { type: 'object', properties: {} } },
    ];
    await ask(provider.model(settings), { systemPrompt: 'Be brief.', tools });
    expect(provider.only.body).toMatchObject({
      instructions: 'Be brief.',
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 99,
      reasoning: { effort: 'low', summary: 'auto' },
      parallel_tool_calls: false,
    });
  });

  it('wants no summary of no reasoning', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    await ask(provider.model({ reasoningEffort: 'none' }));
    expect(provider.only.body.reasoning).toEqual({ effort: 'none' });
  });

  it('merges fields of the configuration last, and takes away those that are null', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    const extraBody = { include: null, reasoning: { summary: 'detailed' }, service_tier: 'flex' };
    await ask(provider.model({ reasoningEffort: 'high', extraBody }));
    expect(provider.only.body).toMatchObject({
      reasoning: { effort: 'high', summary: 'detailed' },
      service_tier: 'flex',
    });
    expect(provider.only.body).not.toHaveProperty('include');
  });

  it('offers tools that need not be strict, so that optional arguments stay optional', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } } };
    await ask(provider.model(), { tools: [{ name: 'search', description: '', inputSchema }] });
    expect(provider.only.body.tools).toEqual([
      { type: 'function', name: 'search', parameters: inputSchema, strict: false },
    ]);
  });

  it('shows images as data URLs beside the text, and alone when there is no text', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    const images = [{ base64: 'iVBORw0KGgo=', mimeType: 'image/png' } as const];
    const picture = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
    await ask(provider.model(), {
      messages: [
        { role: 'user', text: 'see', images },
        { role: 'assistant', parts: [{ type: 'text', text: 'ok' }] },
        { role: 'user', text: '', images },
      ],
    });
    const { input } = provider.only.body;
    expect(input[0]?.content).toEqual([{ type: 'input_text', text: 'see' }, picture]);
    expect(input[2]?.content).toEqual([picture]);
  });

  it('tells calls and results under ids that OpenAI takes, the same for both', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    const callId = `functions.search:0-${'x'.repeat(64)}`;
    const parts: AssistantPart[] = [{ type: 'toolCall', callId, name: 'search', arguments: { q: 'é' } }];
    await ask(provider.model(), {
      messages: [
        { role: 'user', text: 'go' },
        { role: 'assistant', parts },
        { role: 'tool', callId, name: 'search', text: 'found' },
      ],
    });
    const [, called, result] = provider.only.body.input;
    expect(called).toEqual({
      type: 'function_call',
      call_id: expect.stringMatching(/^[\w-]{1,64}$/),
      name: 'search',
      arguments: '{"q":"é"}',
    });
    expect(result).toEqual({ type: 'function_call_output', call_id: called?.call_id, output: 'found' });
  });

  it('retells a refusal as one', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    await ask(provider.model(), {
      messages: [
        { role: 'user', text: 'go' },
        { role: 'assistant', parts: [{ type: 'refusal', text: 'No.' }] },
        { role: 'user', text: 'please' },
      ],
    });
    expect(provider.only.body.input[1]).toEqual({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'No.' }],
    });
  });

  it('leaves out reasoning that nothing follows, and reasoning that is not encrypted', async () => {
    await using provider = await Provider.listen({ body: TEXT_REPLY });
    const parts: AssistantPart[] = [
      { type: 'opaque', data: { ...REASONING, encrypted_content: null } },
      { type: 'text', text: 'Half a' },
      { type: 'opaque', data: REASONING },
    ];
    const messages: ModelMessage[] = [
      { role: 'user', text: 'go' },
      { role: 'assistant', parts },
    ];
    await ask(provider.model(), { messages: [...messages, { role: 'user', text: 'on' }] });
    expect(provider.only.body.input.map(({ type }) => type)).toEqual(['message', 'message', 'message']);
  });
});

describe('the reply of the Responses API', () => {
  it('passes a text on as it comes, and tells its tokens', async () => {
    const usage = {
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 16 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const { reply, texts } = await hear(
      namedEvents(
        CREATED,
        added(0, message('')),
        delta(0, 'Hel'),
        delta(0, 'lo'),
        done(0, message('Hello')),
        {
          ...completed({ output: [message('Hello')], usage }),
        },
      ),
    );
    expect(texts).toEqual(['Hel', 'lo']);
    expect(reply).toEqual({
      parts: [{ type: 'text', text: 'Hello' }],
      usage: { inputTokens: 20, outputTokens: 9, cachedTokens: 16, reasoningTokens: 0 },
    });
  });

  it('understands characters and events that are split between packets', async () => {
    const bytes = Buffer.from(namedEvents(CREATED, delta(0, 'Grüße 👋'), completed()));
    const cuts = [bytes.indexOf('ü') + 1, bytes.indexOf('👋') + 2, bytes.length - 1];
    const pieces = [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index]));
    expect((await hear(pieces)).texts.join('')).toBe('Grüße 👋');
  });

  it('parts messages by a blank line, and keeps the phase of each', async () => {
    const { reply, texts } = await hear(
      namedEvents(
        CREATED,
        added(0, message('', { phase: 'commentary' })),
        delta(0, 'I look.'),
        done(0, message('I look.', { phase: 'commentary' })),
        delta(1, 'Found'),
        delta(1, ' it.'),
        done(1, message('Found it.', { phase: 'final_answer' })),
        completed(),
      ),
    );
    expect(texts).toEqual(['I look.', '\n\nFound', ' it.']);
    expect(reply.parts).toEqual([
      { type: 'text', text: 'I look.', opaque: { phase: 'commentary' } },
      { type: 'text', text: '\n\nFound it.', opaque: { phase: 'final_answer' } },
    ]);
  });

  it('keeps reasoning for people in parts, and the item as it is when it is done', async () => {
    const thought = (summary_index: number, piece: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta: piece,
    });
    const { reply, reasoning } = await hear(
      namedEvents(
        CREATED,
        added(0, { ...REASONING, summary: [], encrypted_content: 'gAAAA-half' }),
        thought(0, 'First'),
        thought(0, ' this.'),
        thought(1, 'Then that.'),
        done(0, REASONING),
        delta(1, 'Hi'),
        completed(),
      ),
    );
    expect(reasoning).toEqual(['First', ' this.', '\n\nThen that.']);
    expect(reply.parts).toEqual([
      { type: 'reasoning', text: 'First this.\n\nThen that.' },
      { type: 'opaque', data: REASONING },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('shows raw reasoning, and does not keep an item that is not encrypted', async () => {
    const piece = { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm' };
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: null };
    const { reply } = await hear(namedEvents(CREATED, piece, done(0, item), delta(1, 'Hi'), completed()));
    expect(reply.parts).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('says a refusal as the user hears it', async () => {
    const piece = (text: string) => ({ type: 'response.refusal.delta', output_index: 0, delta: text });
    const { reply, texts } = await hear(namedEvents(CREATED, piece('I can'), piece('not.'), completed()));
    expect(texts).toEqual(['I can', 'not.']);
    expect(reply.parts).toEqual([{ type: 'refusal', text: 'I cannot.' }]);
  });

  it('takes parallel calls from their ends, in their order', async () => {
    const { reply } = await hear(
      namedEvents(
        CREATED,
        delta(0, 'Let me see.'),
        added(1, call('call_a', 'search', '')),
        args(1, '{"q":'),
        added(2, call('call_b', 'time', '')),
        args(1, '"x"}'),
        done(1, call('call_a', 'search', '{"q":"x"}', { status: 'completed' })),
        done(2, call('call_b', 'time', '', { status: 'completed' })),
        completed({ output: [message('Let me see.'), call('call_other', 'search', '{"q":"x"}'), {}] }),
      ),
    );
    expect(reply.parts).toEqual([
      { type: 'text', text: 'Let me see.' },
      { type: 'toolCall', callId: 'call_a', name: 'search', arguments: '{"q":"x"}' },
      { type: 'toolCall', callId: 'call_b', name: 'time', arguments: '{}' },
    ]);
  });

  it('gives a call an id of its own when the conversation knows the one that it has', async () => {
    await using provider = await Provider.listen({
      body: namedEvents(CREATED, done(0, call('call_0', 'time', '{}')), completed()),
    });
    const parts: AssistantPart[] = [{ type: 'toolCall', callId: 'call_0', name: 'time', arguments: {} }];
    const messages: ModelMessage[] = [
      { role: 'user', text: 'go' },
      { role: 'assistant', parts },
      { role: 'tool', callId: 'call_0', name: 'time', text: 'noon' },
    ];
    const { reply } = await ask(provider.model(), { messages });
    expect(reply.parts).toEqual([
      {
        type: 'toolCall',
        callId: expect.stringMatching(/^call_[0-9a-f]{32}$/),
        name: 'time',
        arguments: '{}',
      },
    ]);
  });

  it('takes from the completed response what was not ended before', async () => {
    const { reply, texts } = await hear(
      namedEvents(
        CREATED,
        delta(0, 'Looking'),
        added(1, call('call_a', 'search', '')),
        args(1, '{}'),
        completed({ output: [message('Looking', { phase: 'commentary' }), call('call_a', 'search', '{}')] }),
      ),
    );
    expect(texts).toEqual(['Looking']);
    expect(reply.parts).toEqual([
      { type: 'text', text: 'Looking', opaque: { phase: 'commentary' } },
      { type: 'toolCall', callId: 'call_a', name: 'search', arguments: '{}' },
    ]);
  });

  it('takes a call whose arguments are done from a response that is completed without output', async () => {
    const all = { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"q":1}' };
    const { reply } = await hear(
      namedEvents(CREATED, added(0, call('call_a', 'search', '')), all, completed()),
    );
    expect(reply.parts).toEqual([
      { type: 'toolCall', callId: 'call_a', name: 'search', arguments: '{"q":1}' },
    ]);
  });

  it('says what comes whole and not in deltas', async () => {
    const whole = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'One' };
    const { texts, reasoning } = await hear(
      namedEvents(
        CREATED,
        whole,
        done(0, message('One')),
        done(1, REASONING),
        done(2, message('Two')),
        completed(),
      ),
    );
    expect(texts).toEqual(['One', '\n\nTwo']);
    expect(reasoning).toEqual(['Hmm.']);
  });

  it('skips what it does not know', async () => {
    const unknown = [{ type: 'keepalive' }, { type: 'response.new_thing', delta: 1 }, { type: 'ping' }];
    const body = `: comment\n\n${namedEvents(CREATED, ...unknown)}data: ping\n\ndata: [1]\n\n${TEXT_REPLY}data: [DONE]\n\n`;
    expect((await hear(body)).texts).toEqual(['Hel', 'lo']);
  });

  it('reads events whose places, types or deltas are missing', async () => {
    const items = [
      { type: 'response.output_item.added', item: call('call_a', 'search', '') },
      { type: 'response.output_item.added', item: call('call_b', 'time', '') },
      { type: 'response.output_item.done', item: call('call_a', 'search', '{}') },
      { type: 'response.output_item.done', item: call('call_b', 'time', '{}') },
      { type: 'response.output_text.delta', delta: null },
    ];
    const untyped = `event: response.output_text.delta\ndata: ${JSON.stringify({ delta: 'Hi' })}\n\n`;
    const { reply } = await hear(
      OPENING + untyped + namedEvents(...items, completed({ usage: { input_tokens: 'many' } })),
    );
    expect(reply.parts.map(({ type }) => type)).toEqual(['text', 'toolCall', 'toolCall']);
    expect(reply).not.toHaveProperty('usage');
  });

  it('reads a whole answer of a server that does not stream', async () => {
    const output = [REASONING, message('Hello'), call('call_a', 'search', '{}')];
    const answer = response('completed', { output, usage: { input_tokens: 1, output_tokens: 2 } });
    const { reply, texts } = await hear(JSON.stringify(answer), 'application/json');
    expect(texts).toEqual(['Hello']);
    expect(reply).toEqual({
      parts: [
        { type: 'reasoning', text: 'Hmm.' },
        { type: 'opaque', data: REASONING },
        { type: 'text', text: 'Hello' },
        { type: 'toolCall', callId: 'call_a', name: 'search', arguments: '{}' },
      ],
      usage: { inputTokens: 1, outputTokens: 2 },
    });
  });

  it('has not begun while nothing but encrypted reasoning came, so a model may think on', () => {
    const config = LlmConfig.parse({ provider: 'openai', model: 'gpt-test', apiKey: 'sk-test' });
    const listener = { onText: () => undefined, onReasoning: () => undefined };
    const request = { systemPrompt: '', messages: [], tools: [] };
    const reader = new ResponsesReader(providerEndpoint(config, {}), request, listener);
    reader.event(JSON.stringify(done(0, { ...REASONING, summary: [] })), undefined);
    expect(reader.progress.hasBegun).toBe(false);
    reader.event(JSON.stringify(args(1, '{')), undefined);
    expect(reader.progress.hasBegun).toBe(true);
    expect(reader.progress.hasSpoken).toBe(false);
  });
});

describe('the next request of the Responses API', () => {
  it('returns reasoning byte for byte in its place, phases, and texts as the model said them', async () => {
    const first = namedEvents(
      CREATED,
      done(0, REASONING),
      done(1, message('I look.', { phase: 'commentary' })),
      done(2, message('And see.')),
      done(3, call('call_a', 'search', '{"q":"x"}')),
      completed(),
    );
    await using provider = await Provider.listen({ body: first }, { body: TEXT_REPLY });
    const model = provider.model();
    const { reply } = await ask(model);
    const parts = reply.parts.map((part): AssistantPart => {
      return part.type === 'toolCall' ? { ...part, arguments: JSON.parse(part.arguments) } : part;
    });
    const { source } = model;
    const window: ModelMessage[] = [
      { role: 'user', text: 'hi' },
      { role: 'assistant', parts, ...(source && { source }) },
      { role: 'tool', callId: 'call_a', name: 'search', text: 'found' },
    ];
    await ask(model, { messages: modelConversation(window, { source, caution: 'none' }) });
    const said = (text: string) => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [] }],
    });
    const next = provider.received[1];
    expect(next?.body.input.slice(1)).toEqual([
      { type: 'reasoning', summary: REASONING.summary, encrypted_content: REASONING.encrypted_content },
      { ...said('I look.'), phase: 'commentary' },
      said('And see.'),
      { type: 'function_call', call_id: 'call_a', name: 'search', arguments: '{"q":"x"}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'found' },
    ]);
    const sent =
      '{"type":"reasoning","summary":[{"type":"summary_text","text":"Hmm."}],"encrypted_content":"gAAAA+/=é"}';
    expect(next?.text).toContain(sent);
  });
});

describe('a refused extra of the Responses API', () => {
  const refused = (param: string | null, code: string | null = null): Answer => ({
    status: 400,
    body: JSON.stringify({ error: { message: 'no', type: 'invalid_request_error', param, code } }),
  });
  const effort = { reasoningEffort: 'low' };

  it('is left out of the same call and of all later ones: encrypted reasoning', async () => {
    await using provider = await Provider.listen(refused('include'), { body: TEXT_REPLY });
    const model = provider.model();
    expect((await ask(model)).texts).toEqual(['Hel', 'lo']);
    await ask(model);
    expect(provider.received.map(({ body }) => 'include' in body)).toEqual([true, false, false]);
  });

  it('is left out of the same call and of all later ones: the summary of reasoning', async () => {
    const no = refused('reasoning.summary', 'unsupported_value');
    await using provider = await Provider.listen(no, { body: TEXT_REPLY });
    const model = provider.model(effort);
    await ask(model);
    await ask(model);
    const sent = provider.received.map(({ body }) => body.reasoning);
    expect(sent).toEqual([{ effort: 'low', summary: 'auto' }, { effort: 'low' }, { effort: 'low' }]);
  });

  it('is left out of the same call alone: reasoning of another organization', async () => {
    const no = refused(null, 'invalid_encrypted_content');
    await using provider = await Provider.listen(no, { body: TEXT_REPLY });
    const model = provider.model();
    const parts: AssistantPart[] = [
      { type: 'opaque', data: REASONING },
      { type: 'text', text: 'Hi' },
    ];
    const messages: ModelMessage[] = [
      { role: 'user', text: 'hi' },
      { role: 'assistant', parts },
      { role: 'user', text: 'on' },
    ];
    await ask(model, { messages });
    await ask(model, { messages });
    const counts = provider.received.map(
      ({ body }) => body.input.filter(({ type }) => type === 'reasoning').length,
    );
    expect(counts).toEqual([1, 0, 1]);
  });

  it('is not tried without once text was passed on, which would be said again', async () => {
    const error = { status: 400, code: 'invalid_encrypted_content', message: 'no' };
    const text = { type: 'response.output_text.delta', output_index: 0, delta: 'Half' };
    const body = [text, { type: 'error', error }].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
    await using provider = await Provider.listen({ body }, { body: TEXT_REPLY });
    const texts: string[] = [];
    const listener = { onText: (piece: string) => void texts.push(piece), onReasoning: () => undefined };
    const request = { systemPrompt: '', messages: [{ role: 'user' as const, text: 'hi' }], tools: [] };
    const failing = provider.model().generate(request, listener, new AbortController().signal);
    await expect(failing).rejects.toMatchObject({ details: { code: 'invalid_encrypted_content' } });
    expect(texts).toEqual(['Half']);
    expect(provider.received).toHaveLength(1);
  });

  it('is tried without once and no more', async () => {
    await using provider = await Provider.listen(refused('include'));
    await expect(ask(provider.model())).rejects.toMatchObject({ details: { status: 400, param: 'include' } });
    expect(provider.received).toHaveLength(2);
  });
});

describe('the end of a reply of the Responses API', () => {
  const incomplete = (reason: string) => end('incomplete', { incomplete_details: { reason } });

  it('keeps a text that a token limit cut, and says so', async () => {
    const { reply } = await hear(namedEvents(CREATED, delta(0, 'Half a'), incomplete('max_output_tokens')));
    expect(reply).toEqual({ parts: [{ type: 'text', text: 'Half a' }], finishReason: 'length' });
  });

  it.each([
    ['whose item is incomplete', [done(0, call('call_a', 'search', '{"q":', { status: 'incomplete' }))]],
    ['whose item has no end', [added(0, call('call_a', 'search', '')), args(0, '{"q":')]],
    ['whose item has half of its arguments', [done(0, call('call_a', 'search', '{"q":'))]],
  ])('fails when a token limit cut a tool call %s', async (_, events) => {
    const body = namedEvents(CREATED, ...events, delta(1, 'x'), incomplete('max_output_tokens'));
    expect((await failure({ body })).details.reason).toMatch(/token limit in the middle of a tool call/);
  });

  it('fails when a call of a completed response has no end', async () => {
    const body = namedEvents(CREATED, added(0, call('call_a', 'search', '')), args(0, '{"q":'), completed());
    expect((await failure({ body })).details.reason).toMatch(/tool call without its end/);
  });

  it('fails when a call has no name', async () => {
    const body = namedEvents(CREATED, done(0, call('call_a', '', '{}')), completed());
    expect((await failure({ body })).details.reason).toMatch(/tool call without a name/);
  });

  it.each([
    [
      'the content filter stopped it',
      namedEvents(CREATED, delta(0, 'x'), incomplete('content_filter')),
      /filter/,
    ],
    [
      'it is incomplete for a reason that nobody knows',
      namedEvents(CREATED, delta(0, 'x'), incomplete('steered')),
      /steered/,
    ],
    ['it was cancelled', namedEvents(CREATED, end('cancelled')), /cancelled/],
    ['it is empty', namedEvents(CREATED, completed()), /empty reply/],
    ['the stream ends early', namedEvents(CREATED, delta(0, 'Hel')), /before the reply was complete/],
    ['an event is broken', `${OPENING}data: {"type":"response.output_text.del\n\n`, /broken event/],
    ['the server speaks another API', 'data: {"choices":[]}\n\n', /no response; check that llm.baseURL/],
  ])('fails when %s', async (_, body, reason) => {
    expect((await failure({ body })).details.reason).toMatch(reason);
  });

  const tooLong = {
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: 'x',
    param: 'input',
  };

  const nested = { type: 'error', error: tooLong };

  it.each([
    ['an error event', namedEvents(CREATED, { ...tooLong, type: 'error' })],
    ['an error event with the error in a field', namedEvents(CREATED, nested)],
    ['an error event without a type', `${OPENING}event: error\ndata: ${JSON.stringify(tooLong)}\n\n`],
    ['an error object', `data: ${JSON.stringify({ error: tooLong })}\n\n`],
    ['a failed response', namedEvents(CREATED, end('failed', { error: tooLong }))],
    ['a whole answer', JSON.stringify({ error: tooLong })],
  ])('tells what the provider says in %s', async (_, body) => {
    const { details } = await failure({ body });
    expect(details).toMatchObject({ code: 'context_length_exceeded', refused: 'context' });
  });

  it('tells what the provider says with an error status, and which tool it means', async () => {
    const error = {
      message: 'Invalid schema',
      param: 'tools[1].parameters',
      code: 'invalid_function_parameters',
    };
    const tool = (name: string) => ({ name, description: '', inputSchema: {} });
    const tools = [tool('search'), tool('time')];
    const { details } = await failure({ status: 400, body: JSON.stringify({ error }) }, { tools });
    expect(details).toMatchObject({ status: 400, toolName: 'time' });
  });

  it('ends the request at once when it is aborted in the middle, and passes nothing more on', async () => {
    const body = namedEvents(CREATED, delta(0, 'Hel'), delta(0, 'lo'));
    await using provider = await Provider.listen({ body, isOpen: true });
    const abort = new AbortController();
    const texts: string[] = [];
    const listener = {
      onText: (text: string) => {
        texts.push(text);
        abort.abort();
      },
      onReasoning: () => undefined,
    };
    const messages: ModelMessage[] = [{ role: 'user', text: 'hi' }];
    const request = { systemPrompt: '', messages, tools: [] };
    await expect(provider.model().generate(request, listener, abort.signal)).rejects.toThrow();
    await provider.aborted;
    expect(texts).toEqual(['Hel']);
  });
});
