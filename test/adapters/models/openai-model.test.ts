import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/ports/language-model.ts';
import {
  KEY,
  modelRequest,
  OpenAiModelHarness,
  rejection,
} from '../../support/models/openai-model-harness.ts';
import {
  errorReply,
  type StreamStep,
  textReply,
  toolCallReply,
} from '../../support/models/openai-upstream.ts';
import { callsIn, ReplyRecord, replyText } from '../../support/models/replies.ts';

const signal = new AbortController().signal;

const delta = (value: object) => ({ event: { choices: [{ index: 0, delta: value }] } });

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
      { role: 'user', text: 'what is it?', images: [image] } as const,
      { role: 'user', text: '', images: [image] } as const,
    ];
    await harness.ask({ request: { messages } });
    expect((await harness.upstream.request(0)).body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'what is it?' }, part] },
      { role: 'user', content: [part] },
    ]);
  });

  it('has no empty texts, which GLM and MiniMax refuse', async () => {
    await using harness = await OpenAiModelHarness.open();
    const call = { type: 'toolCall', callId: 'c1', name: 'touch', arguments: {} } as const;
    const messages = [
      { role: 'user', text: '' },
      { role: 'assistant', parts: [call] },
      { role: 'tool', callId: 'c1', name: 'touch', text: '' },
    ] as const;
    await harness.ask({ request: { messages } });
    expect((await harness.upstream.request(0)).body.messages).toMatchObject([
      { content: '[empty message]' },
      { content: null },
      { content: '(no output)' },
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
      { type: 'function', function: { name: 'ping', parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('retells tool calls with their results', async () => {
    await using harness = await OpenAiModelHarness.open();
    await harness.ask({
      request: {
        messages: [
          { role: 'user', text: 'go' },
          {
            role: 'assistant',
            parts: [{ type: 'toolCall', callId: 'c1', name: 'search', arguments: { q: 'x' } }],
          },
          { role: 'tool', callId: 'c1', name: 'search', text: 'found' },
          { role: 'assistant', parts: [{ type: 'text', text: 'I found it.' }] },
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
      { role: 'assistant', content: 'I found it.' },
    ]);
  });
});

describe('the reply of the OpenAI model', () => {
  it('has the usage that the provider reports', async () => {
    await using harness = await OpenAiModelHarness.open(textReply('a', 'b'));
    const { reply } = await harness.ask();
    const usage = { inputTokens: 7, outputTokens: 11 };
    expect(reply).toEqual({ parts: [{ type: 'text', text: 'ab' }], usage });
  });

  it.each<[string, StreamStep[]]>([
    ['a finish reason, though [DONE] never comes', [{ text: 'all' }, { finish: 'stop' }]],
    ['[DONE], though there is no finish reason', [{ text: 'all' }, { done: true }]],
    ['the finish reason of another interface', [{ text: 'all' }, { finish: 'end_turn' }, { done: true }]],
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
    expect(reply).toEqual({ parts: [{ type: 'text', text: 'all' }] });
    await harness.upstream.idle();
  });

  it('says that its text was cut by a token limit, for the text stands', async () => {
    const stream: StreamStep[] = [{ text: 'al' }, { finish: 'length' }, { done: true }];
    await using harness = await OpenAiModelHarness.open({ stream });
    const { reply } = await harness.ask();
    expect(reply).toEqual({ parts: [{ type: 'text', text: 'al' }], finishReason: 'length' });
  });

  it('is read past events that are no part of it', async () => {
    const others = [{ ping: 1 }, { choices: 'none' }, { choices: [] }, { choices: null }, 7, null, []];
    const stream: StreamStep[] = [
      { text: 'a' },
      ...others.map((event): StreamStep => ({ event })),
      { raw: 'event: progress\ndata: soon\n\n: alive\n\ndata:\n\n' },
      { text: 'b' },
      { finish: 'stop' },
      { done: true },
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect((await harness.ask()).reply).toEqual({ parts: [{ type: 'text', text: 'ab' }] });
  });

  it.each(['text/plain', 'application/json'])(
    'is read as events though they are called %s',
    async (contentType) => {
      const stream: StreamStep[] = [{ text: 'all' }, { finish: 'stop' }, { done: true }];
      await using harness = await OpenAiModelHarness.open({ stream, contentType });
      expect(replyText((await harness.ask()).reply)).toBe('all');
    },
  );

  it('may come as a whole, from a server that does not stream', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{"at":1}' } };
    const message = { role: 'assistant', content: 'Let me look.', tool_calls: [call] };
    const usage = { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } };
    await using harness = await OpenAiModelHarness.open({
      status: 200,
      body: { object: 'chat.completion', choices: [{ message, finish_reason: 'tool_calls' }], usage },
    });
    expect(await harness.ask()).toEqual({
      reply: {
        parts: [
          { type: 'text', text: 'Let me look.' },
          { type: 'toolCall', callId: 'c', name: 'look', arguments: '{"at":1}' },
        ],
        usage: { inputTokens: 1, outputTokens: 2, cachedTokens: 1 },
      },
      pieces: ['Let me look.'],
      thoughts: [],
    });
  });

  it('is not kept from its end by what is sent after [DONE]', async () => {
    const beats = Array.from({ length: 200 }, (): StreamStep[] => [{ raw: ': alive\n\n' }, { pauseMs: 20 }]);
    await using harness = await OpenAiModelHarness.open({
      stream: [{ text: 'all' }, { finish: 'stop' }, { done: true }, ...beats.flat()],
    });
    const asked = harness.ask();
    const { aborted } = await harness.upstream.request(0);
    expect(replyText((await asked).reply)).toBe('all');
    await aborted;
  });

  it('keeps the signed thinking of a Claude behind LiteLLM, and sends it back in the current turn', async () => {
    const thinks = (thinking: string, signature: string | null = null) =>
      delta({ reasoning_content: thinking, thinking_blocks: [{ type: 'thinking', thinking, signature }] });
    const hidden = { type: 'redacted_thinking', data: 'HIDDEN' };
    const call = { id: 'toolu_1', name: 'read' };
    const config = { provider: 'openai-compatible', model: 'claude-sonnet-4-5' } as const;
    await using harness = await OpenAiModelHarness.open(
      {
        stream: [
          ...[thinks('Two '), thinks('files.'), thinks('', 'SIG1'), thinks('A first.'), thinks('', 'SIG2')],
          ...[delta({ thinking_blocks: [hidden] }), { toolCall: call }, { finish: 'tool_calls' }],
        ],
      },
      textReply('done'),
      textReply('again'),
    );
    const { reply } = await harness.ask({ config });
    const signed = [
      { type: 'thinking', thinking: 'Two files.', signature: 'SIG1' },
      { type: 'thinking', thinking: 'A first.', signature: 'SIG2' },
      hidden,
    ];
    expect(reply.parts).toContainEqual({
      type: 'opaque',
      data: { reasoning_content: 'Two files.A first.', thinking_blocks: signed },
    });
    const parts = reply.parts.map((part) => (part.type === 'toolCall' ? { ...part, arguments: {} } : part));
    const turn = [
      { role: 'user', text: 'read them' },
      { role: 'assistant', parts },
      { role: 'tool', callId: 'toolu_1', name: 'read', text: 'text' },
    ] as const;
    await harness.ask({ config, request: { messages: turn } });
    const later = { role: 'assistant', parts: [{ type: 'text', text: 'done' }] } as const;
    await harness.ask({ config, request: { messages: [...turn, later, { role: 'user', text: 'and?' }] } });
    const [, inTurn, next] = await Promise.all([0, 1, 2].map((place) => harness.upstream.request(place)));
    expect(inTurn?.body.messages[1]).toMatchObject({ thinking_blocks: signed });
    expect(next?.body.messages[1]).not.toHaveProperty('thinking_blocks');
  });

  it('sends no thinking of LiteLLM back that is not signed: Claude refuses it', async () => {
    const thinking = delta({ thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: null }] });
    await using harness = await OpenAiModelHarness.open({
      stream: [thinking, { text: 'a' }, { finish: 'stop' }],
    });
    expect((await harness.ask()).reply.parts).toEqual([{ type: 'text', text: 'a' }]);
  });

  it('tells reasoning apart from the text, in a field of its own or in a list of parts', async () => {
    const stream: StreamStep[] = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm', content: null }),
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      delta({ content: [{ type: 'text', text: 'for' }] }),
      delta({ content: 'ty-two' }),
      { finish: 'stop' },
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect(await harness.ask()).toEqual({
      reply: {
        parts: [
          { type: 'reasoning', text: 'hmhm' },
          { type: 'text', text: 'forty-two' },
        ],
      },
      pieces: ['for', 'ty-two'],
      thoughts: ['hm', 'hm'],
    });
  });

  it('begins with what can be seen: white space before it waits', async () => {
    const texts = ['\n', '\n', ' Hi', '\n', 'you'];
    const stream: StreamStep[] = [...texts.map((text) => ({ text })), { finish: 'stop' }];
    await using harness = await OpenAiModelHarness.open({ stream });
    const { reply, pieces } = await harness.ask();
    expect(pieces).toEqual(['\n\n Hi', '\n', 'you']);
    expect(reply.parts).toEqual([{ type: 'text', text: '\n\n Hi\nyou' }]);
  });

  it('passes on a refusal, which is what the model said', async () => {
    const stream: StreamStep[] = [
      { event: { choices: [{ delta: { refusal: 'No.' } }] } },
      { finish: 'stop' },
    ];
    await using harness = await OpenAiModelHarness.open({ stream });
    const { reply, pieces } = await harness.ask();
    expect(reply.parts).toEqual([{ type: 'refusal', text: 'No.' }]);
    expect(pieces).toEqual(['No.']);
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
      await model.generate({ systemPrompt: '', messages: [], tools: [] }, new ReplyRecord(), signal);
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
      parts: [
        { type: 'text', text: 'Let me look.' },
        { type: 'toolCall', callId: 'a', name: 'search', arguments: '{"q":1}' },
        { type: 'toolCall', callId: 'b', name: 'read', arguments: '{}' },
      ],
    });
  });

  it('have no text of white space beside them', async () => {
    const call: StreamStep = { toolCall: { index: 0, id: 'a', name: 'search', arguments: '{}' } };
    await using harness = await OpenAiModelHarness.open({ stream: [{ text: '\n\n' }, call, ...finish] });
    const { reply, pieces } = await harness.ask();
    expect(pieces).toEqual([]);
    expect(reply.parts).toEqual([{ type: 'toolCall', callId: 'a', name: 'search', arguments: '{}' }]);
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
    const toolCalls = callsIn((await harness.ask()).reply);
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
      {
        role: 'assistant',
        parts: [{ type: 'toolCall', callId: 'call_0', name: 'a', arguments: {} }],
      } as const,
      { role: 'tool', callId: 'call_0', name: 'a', text: 'done' } as const,
    ];
    const toolCalls = callsIn((await harness.ask({ request: { messages } })).reply);
    expect(toolCalls).toEqual([
      { callId: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: 'a', arguments: '{}' },
    ]);
  });

  it('keep arguments that are no JSON as they are: whoever runs them decides', async () => {
    await using harness = await OpenAiModelHarness.open(
      toolCallReply([{ id: 'c', name: 'a', arguments: '{oops' }]),
    );
    expect(callsIn((await harness.ask()).reply)[0]?.arguments).toBe('{oops');
  });
});

describe('calls of one model', () => {
  const asking = (text: string, part: Partial<ModelRequest> = {}) =>
    modelRequest({ messages: [{ role: 'user', text }], ...part });
  const ignore = new ReplyRecord();

  it('have each their own message, trace and signal, and in common what the service says of itself', async () => {
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
        'user-agent': 'agent-service',
        accept: 'text/event-stream, application/json',
      });
    expect([one, two, three].map((request) => request?.body.messages)).toEqual(
      ['one', 'two', 'three'].map((content) => [{ role: 'user', content }]),
    );
  });

  it('keep their message and their trace when they are repeated', async () => {
    await using harness = await OpenAiModelHarness.open(
      errorReply(503, { retryAfterMs: 1 }),
      textReply('at last'),
      textReply('at once'),
    );
    const model = harness.model();
    await model.generate(asking('one', { trace: { traceparent: 'of-one' } }), ignore, signal);
    await model.generate(asking('two'), ignore, signal);
    expect(
      harness.upstream.requests.map(({ headers, body }) => [headers.traceparent, body.messages]),
    ).toEqual([
      ['of-one', [{ role: 'user', content: 'one' }]],
      ['of-one', [{ role: 'user', content: 'one' }]],
      [undefined, [{ role: 'user', content: 'two' }]],
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
    expect(replyText(reply)).toBe('all');
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
