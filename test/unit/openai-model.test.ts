import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/ports/language-model.ts';
import { KEY, modelRequest, OpenAiModelHarness, rejection } from '../support/openai-model-harness.ts';
import { errorReply, type StreamStep, textReply, toolCallReply } from '../support/openai-upstream.ts';

const signal = new AbortController().signal;

describe('the request of the OpenAI model', () => {
  it('holds model, system prompt and message, asks for a stream with usage, and nothing that is not needed', async () => {
    await using harness = await OpenAiModelHarness.open();
    await harness.ask({ request: { systemPrompt: 'Be brief.', messages: [{ role: 'user', text: 'hi' }] } });
    const { body, path } = await harness.upstream.request(0);
    expect(path).toBe('/v1/chat/completions');
    expect(body).toEqual({
      model: 'gpt-test',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    });
  });

  it('has no stream options for providers that refuse them', async () => {
    await using harness = await OpenAiModelHarness.open();
    await harness.ask({ config: { provider: 'mistral' } });
    expect((await harness.upstream.request(0)).body).not.toHaveProperty('stream_options');
  });

  it('has the temperature, if one is configured, even when it is 0', async () => {
    await using harness = await OpenAiModelHarness.open();
    await harness.ask({ config: { temperature: 0 } });
    expect((await harness.upstream.request(0)).body.temperature).toBe(0);
  });

  it('shows an image as a data URL beside the text, and alone when there is no text', async () => {
    const image = { base64: 'iVBORw0KGgo=', mimeType: 'image/png' } as const;
    const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    await using harness = await OpenAiModelHarness.open();
    const messages = [
      { role: 'user', text: 'what is it?', image } as const,
      { role: 'user', text: '', image } as const,
    ];
    await harness.ask({ request: { messages } });
    expect((await harness.upstream.request(0)).body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'what is it?' }, part] },
      { role: 'user', content: [part] },
    ]);
  });

  it('offers the tools with their schemas', async () => {
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
    await using harness = await OpenAiModelHarness.open();
    const tools = [
      { name: 'search', description: 'Searches.', inputSchema },
      { name: 'ping', description: '', inputSchema: { type: 'object' } },
    ];
    await harness.ask({ request: { tools } });
    expect((await harness.upstream.request(0)).body.tools).toEqual([
      { type: 'function', function: { name: 'search', description: 'Searches.', parameters: inputSchema } },
      { type: 'function', function: { name: 'ping', parameters: { type: 'object' } } },
    ]);
  });

  it('retells tool calls with their results, and marks a reply that was cut off', async () => {
    await using harness = await OpenAiModelHarness.open();
    await harness.ask({
      request: {
        messages: [
          { role: 'user', text: 'go' },
          {
            role: 'assistant',
            text: '',
            toolCalls: [{ callId: 'c1', name: 'search', arguments: { q: 'x' } }],
          },
          { role: 'tool', callId: 'c1', name: 'search', text: 'found' },
          { role: 'assistant', text: 'I found', toolCalls: [], cut: 'cancelled' },
          { role: 'user', text: 'again' },
        ],
      },
    });
    expect((await harness.upstream.request(0)).body.messages.slice(1, 4)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
      { role: 'assistant', content: expect.stringMatching(/^I found \[cut off: .*cancelled/) },
    ]);
  });
});

describe('the reply of the OpenAI model', () => {
  it('has the usage that the provider reports', async () => {
    await using harness = await OpenAiModelHarness.open(textReply('a', 'b'));
    const { reply } = await harness.ask();
    expect(reply).toEqual({ text: 'ab', toolCalls: [], usage: { inputTokens: 7, outputTokens: 11 } });
  });

  it.each<[string, StreamStep[]]>([
    ['a finish reason, though [DONE] never comes', [{ text: 'all' }, { finish: 'stop' }]],
    ['[DONE], though there is no finish reason', [{ text: 'all' }, { done: true }]],
    ['a finish reason nobody knows', [{ text: 'all' }, { finish: 'end_turn' }, { done: true }]],
    ['`length`, for the text stands', [{ text: 'all' }, { finish: 'length' }, { done: true }]],
    [
      '[DONE], though the connection stays open',
      [{ text: 'all' }, { finish: 'stop' }, { done: true }, { hang: true }],
    ],
    [
      '[DONE], though the connection breaks then',
      [{ text: 'all' }, { finish: 'stop' }, { done: true }, { cut: true }],
    ],
    [
      'a finish reason, whatever the usage looks like',
      [{ text: 'all' }, { finish: 'stop' }, { event: { choices: [], usage: { prompt_tokens: 'many' } } }],
    ],
  ])('is complete with %s', async (_what, stream) => {
    await using harness = await OpenAiModelHarness.open({ stream });
    const { reply } = await harness.ask();
    expect(reply.text).toBe('all');
    expect(reply.usage).toBeUndefined();
    await harness.upstream.idle();
  });

  it('is not kept from its end by what is sent after [DONE]', async () => {
    const beats = Array.from({ length: 200 }, (): StreamStep[] => [{ raw: ': alive\n\n' }, { pauseMs: 20 }]);
    await using harness = await OpenAiModelHarness.open({
      stream: [{ text: 'all' }, { finish: 'stop' }, { done: true }, ...beats.flat()],
    });
    const asked = harness.ask();
    const { aborted } = await harness.upstream.request(0);
    expect((await asked).reply.text).toBe('all');
    await aborted;
  });

  it('leaves out reasoning, in a field of its own or in a list of parts', async () => {
    const delta = (value: object) => ({ event: { choices: [{ index: 0, delta: value }] } });
    const stream: StreamStep[] = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm', content: null }),
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      delta({ content: [{ type: 'text', text: 'for' }] }),
      delta({ content: 'ty-two' }),
      { finish: 'stop' },
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect(await harness.ask()).toMatchObject({ reply: { text: 'forty-two' }, pieces: ['for', 'ty-two'] });
  });

  it('passes on a refusal, which is what the model said', async () => {
    const stream: StreamStep[] = [
      { event: { choices: [{ delta: { refusal: 'No.' } }] } },
      { finish: 'stop' },
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect((await harness.ask()).reply.text).toBe('No.');
  });

  it('survives packets that end within a character, and events in one packet', async () => {
    const bytes = Buffer.from(
      'data: {"choices":[{"delta":{"content":"Gr👋ße"}}]}\r\n\r\ndata: {"choices":[{"delta":{"content":"!"},"finish_reason":"stop"}]}\n\n',
    );
    const at = bytes.indexOf(0xf0) + 2;
    const stream: StreamStep[] = [
      { raw: bytes.subarray(0, at) },
      { raw: bytes.subarray(at) },
      { done: true },
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect((await harness.ask()).pieces).toEqual(['Gr👋ße', '!']);
  });

  it('leaves its connection to the calls after it', async () => {
    await using harness = await OpenAiModelHarness.open();
    const model = harness.model();
    for (let round = 0; round < 6; round += 1) {
      await model.generate({ systemPrompt: '', messages: [], tools: [] }, () => undefined, signal);
    }
    expect(harness.upstream.requests).toHaveLength(6);
    // The second call may come before the pool knows that the first connection is free.
    expect(harness.upstream.connections).toBeLessThanOrEqual(2);
  });
});

describe('the tool calls of the OpenAI model', () => {
  const finish: StreamStep[] = [{ finish: 'tool_calls' }, { done: true }];

  it('are put together from interleaved fragments, with the text before them', async () => {
    const stream: StreamStep[] = [
      { text: 'Let me look.' },
      { toolCall: { index: 0, id: 'a', name: 'search', arguments: '{"q"' } },
      { toolCall: { index: 1, id: 'b', name: 'read', arguments: '' } },
      { toolCall: { index: 0, arguments: ':1}' } },
      { toolCall: { index: 1, arguments: '{}' } },
      ...finish,
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect((await harness.ask()).reply).toEqual({
      text: 'Let me look.',
      toolCalls: [
        { callId: 'a', name: 'search', arguments: '{"q":1}' },
        { callId: 'b', name: 'read', arguments: '{}' },
      ],
    });
  });

  it.each<[string, StreamStep[]]>([
    [
      'with neither index nor id',
      [{ toolCall: { name: 'a', arguments: '{"n":1}' } }, { toolCall: { name: 'b', arguments: '{}' } }],
    ],
    [
      'without index, in fragments',
      [
        { toolCall: { id: 'x', name: 'a', arguments: '{"n"' } },
        { toolCall: { arguments: ':1}' } },
        { toolCall: { id: 'y', name: 'b', arguments: '{}' } },
      ],
    ],
    [
      'with one index for all',
      [
        { toolCall: { index: 0, id: 'x', name: 'a', arguments: '{"n":1}' } },
        { toolCall: { index: 0, id: 'y', name: 'b', arguments: '{}' } },
      ],
    ],
    [
      'with the name in each fragment',
      [
        { toolCall: { index: 0, id: 'x', name: 'a', arguments: '{"n"' } },
        { toolCall: { index: 0, id: 'x', name: 'a', arguments: ':1}' } },
        { toolCall: { index: 1, id: 'y', name: 'b', arguments: '{}' } },
      ],
    ],
    [
      'with one id for all',
      [
        { toolCall: { index: 0, id: 'x', name: 'a', arguments: '{"n":1}' } },
        { toolCall: { index: 1, id: 'x', name: 'b', arguments: '{}' } },
      ],
    ],
    [
      'without arguments',
      [
        { toolCall: { index: 0, id: 'x', name: 'a', arguments: '{"n":1}' } },
        { toolCall: { index: 1, id: 'y', name: 'b' } },
      ],
    ],
  ])('are understood %s', async (_how, fragments) => {
    await using harness = await OpenAiModelHarness.open({ stream: [...fragments, ...finish] });
    const { toolCalls } = (await harness.ask()).reply;
    expect(toolCalls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['a', '{"n":1}'],
      ['b', '{}'],
    ]);
    const ids = toolCalls.map((call) => call.callId);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => /^(x|y|call_[0-9a-f]{32})$/.test(id))).toBe(true);
  });

  it('get an id of their own when the conversation has had theirs before', async () => {
    await using harness = await OpenAiModelHarness.open(
      toolCallReply([{ id: 'call_0', name: 'a', arguments: {} }]),
    );
    const messages = [
      { role: 'assistant', text: '', toolCalls: [{ callId: 'call_0', name: 'a', arguments: {} }] } as const,
      { role: 'tool', callId: 'call_0', name: 'a', text: 'done' } as const,
    ];
    const { toolCalls } = (await harness.ask({ request: { messages } })).reply;
    expect(toolCalls).toEqual([
      { callId: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: 'a', arguments: '{}' },
    ]);
  });

  it('keep arguments that are no JSON as they are: whoever runs them decides', async () => {
    await using harness = await OpenAiModelHarness.open(
      toolCallReply([{ id: 'c', name: 'a', arguments: '{oops' }]),
    );
    expect((await harness.ask()).reply.toolCalls[0]?.arguments).toBe('{oops');
  });
});

describe('calls of one model', () => {
  const asking = (text: string, part: Partial<ModelRequest> = {}) =>
    modelRequest({ messages: [{ role: 'user', text }], ...part });
  const ignore = (): void => undefined;

  it('have each their own message, trace and signal, and in common what the SDK says of itself', async () => {
    await using harness = await OpenAiModelHarness.open(
      { hang: true },
      ...['two', 'three'].map((text) => textReply(text)),
    );
    const model = harness.model();
    const abort = new AbortController();
    const failed = rejection(
      model.generate(asking('one', { trace: { traceparent: 'of-one' } }), ignore, abort.signal),
    );
    await harness.upstream.request(0);
    abort.abort();
    await failed;
    const trace = { traceparent: 'of-two', tracestate: 'a=1' };
    await model.generate(asking('two', { trace }), ignore, signal);
    await model.generate(asking('three'), ignore, signal);
    const [one, two, three] = harness.upstream.requests;
    expect(one?.headers).toMatchObject({ traceparent: 'of-one' });
    expect(two?.headers).toMatchObject(trace);
    expect(three?.headers).not.toHaveProperty('traceparent');
    for (const { headers } of harness.upstream.requests)
      expect(headers).toMatchObject({
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'user-agent': expect.stringContaining('OpenAI/JS'),
        'x-stainless-retry-count': '0',
      });
    expect([one, two, three].map((request) => request?.body.messages)).toEqual(
      ['one', 'two', 'three'].map((content) => [{ role: 'user', content }]),
    );
  });

  it('say which repetition they are, and keep their trace in it', async () => {
    await using harness = await OpenAiModelHarness.open(
      errorReply(503, { retryAfterMs: 1 }),
      textReply('at last'),
      textReply('at once'),
    );
    const model = harness.model();
    await model.generate(asking('one', { trace: { traceparent: 'of-one' } }), ignore, signal);
    await model.generate(asking('two'), ignore, signal);
    expect(
      harness.upstream.requests.map(({ headers, body }) => [
        headers['x-stainless-retry-count'],
        headers.traceparent,
        body.messages,
      ]),
    ).toEqual([
      ['0', 'of-one', [{ role: 'user', content: 'one' }]],
      ['1', 'of-one', [{ role: 'user', content: 'one' }]],
      ['0', undefined, [{ role: 'user', content: 'two' }]],
    ]);
  });
});

describe('an abort', () => {
  it('before the headers ends the request', async () => {
    await using harness = await OpenAiModelHarness.open({ hang: true });
    const abort = new AbortController();
    const failed = rejection(harness.ask({ signal: abort.signal }));
    const request = await harness.upstream.request(0);
    abort.abort(new Error('enough'));
    expect(await failed).toMatchObject({ message: 'enough' });
    await request.aborted;
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it('while a repetition waits ends the wait, and nothing is asked again', async () => {
    await using harness = await OpenAiModelHarness.open(errorReply(503, { retryAfterMs: 59_000 }));
    const abort = new AbortController();
    const failed = rejection(harness.ask({ signal: abort.signal }));
    await harness.upstream.request(0);
    await harness.upstream.idle();
    abort.abort(new Error('enough'));
    expect(await failed).toMatchObject({ message: 'enough' });
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it('by the listener stops the other events of the same packet', async () => {
    const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    await using harness = await OpenAiModelHarness.open({
      stream: [{ raw: event('one') + event('two') + event('three') }, { finish: 'stop' }, { done: true }],
    });
    const abort = new AbortController();
    const heard: string[] = [];
    const onText = (text: string) => {
      heard.push(text);
      abort.abort(new Error('enough'));
    };
    expect(await rejection(harness.ask({ signal: abort.signal, onText }))).toMatchObject({
      message: 'enough',
    });
    await harness.upstream.idle();
    expect(heard).toEqual(['one']);
  });

  it('after the reply does nothing', async () => {
    await using harness = await OpenAiModelHarness.open(textReply('all'));
    const abort = new AbortController();
    const { reply } = await harness.ask({ signal: abort.signal });
    abort.abort();
    expect(reply.text).toBe('all');
  });
});

it('what the listener throws is passed on as it is, and the request ends', async () => {
  await using harness = await OpenAiModelHarness.open({ stream: [{ text: 'one' }, { hang: true }] });
  const onText = () => {
    throw new RangeError('a bug');
  };
  expect(await rejection(harness.ask({ onText }))).toBeInstanceOf(RangeError);
  await harness.upstream.idle();
});
