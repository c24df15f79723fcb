import { namedEvents, type ProviderShapes } from '../wire-shape.ts';

const FIXTURES = 'https://github.com/vercel/ai/blob/main/packages/anthropic/src/__fixtures__';
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

function start(inputTokens: number): Event {
  const message = {
    model: 'claude-sonnet-5',
    id: 'msg_01HdYx4RcUq9TkWm2ZbVsNf7',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { input_tokens: inputTokens, ...NO_CACHE, output_tokens: 1, service_tier: 'standard' },
  };
  return { type: 'message_start', message };
}

function open(index: number, block: object): Event {
  return { type: 'content_block_start', index, content_block: block };
}

function more(index: number, delta: object): Event {
  return { type: 'content_block_delta', index, delta };
}

function close(index: number): Event {
  return { type: 'content_block_stop', index };
}

function text(index: number, said: string): Event[] {
  return [
    open(index, { type: 'text', text: '' }),
    more(index, { type: 'text_delta', text: said }),
    close(index),
  ];
}

/** A block of thinking; without a thought it holds the signature only. */
function thinking(index: number, thought: string, signature: string): Event[] {
  return [
    open(index, { type: 'thinking', thinking: '', signature: '' }),
    ...(thought === '' ? [] : [more(index, { type: 'thinking_delta', thinking: thought })]),
    more(index, { type: 'signature_delta', signature }),
    close(index),
  ];
}

function call(index: number, id: string, name: string, args: string): Event[] {
  return [
    open(index, { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } }),
    more(index, { type: 'input_json_delta', partial_json: '' }),
    more(index, { type: 'input_json_delta', partial_json: args }),
    close(index),
  ];
}

function end(
  stopReason: string,
  inputTokens: number,
  outputTokens: number,
  thinkingTokens?: number,
): Event[] {
  const usage = {
    input_tokens: inputTokens,
    ...NO_CACHE,
    output_tokens: outputTokens,
    ...(thinkingTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: thinkingTokens } }),
  };
  const delta = { stop_reason: stopReason, stop_sequence: null, stop_details: null };
  return [{ type: 'message_delta', delta, usage }, { type: 'message_stop' }];
}

/** The end of a message that two models wrote; it says nothing of the input. */
const HANDED_OVER = {
  type: 'message_delta',
  delta: { stop_reason: 'tool_use' },
  usage: {
    output_tokens: 70,
    iterations: [
      { type: 'message', model: 'claude-opus-5', input_tokens: 10, output_tokens: 20 },
      { type: 'fallback_message', model: 'claude-sonnet-5', input_tokens: 10, output_tokens: 50 },
    ],
  },
};

/** How the Messages API streams what a model thinks. */
export const anthropicMessagesThinkingShapes: ProviderShapes = {
  provider: 'anthropic',
  api: 'messages',
  shapes: [
    {
      name: 'thinks aloud, signs the thought and answers',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start(30),
          open(0, { type: 'thinking', thinking: '', signature: '' }),
          more(0, { type: 'thinking_delta', thinking: 'Seven times six.' }),
          more(0, { type: 'thinking_delta', thinking: ' That is 42.' }),
          more(0, { type: 'signature_delta', signature: 'EqkBCkYICxgCKkDr3nQ2' }),
          close(0),
          ...text(1, 'It is 42.'),
          ...end('end_turn', 30, 25),
        ),
      },
      expected: {
        text: 'It is 42.',
        reasoning: 'Seven times six. That is 42.',
        usage: { inputTokens: 30, outputTokens: 25, cachedTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'signs a thought that it does not show',
      source: `${FIXTURES}/anthropic-claude-sonnet-5-reasoning-generic.chunks.txt`,
      answer: {
        body: namedEvents(
          start(28),
          ...thinking(0, '', 'EvQBCmMIDhABGAIqQJ7hX2'),
          ...text(1, 'It is 42.'),
          ...end('end_turn', 28, 496, 62),
        ),
      },
      expected: {
        text: 'It is 42.',
        usage: { inputTokens: 28, outputTokens: 496, cachedTokens: 0, reasoningTokens: 62 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends a thought encrypted and without deltas',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start(30),
          open(0, { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix2LafPsn4a' }),
          close(0),
          ...text(1, 'I can help.'),
          ...end('end_turn', 30, 18),
        ),
      },
      expected: { text: 'I can help.', usage: { inputTokens: 30, outputTokens: 18, cachedTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'thinks again between its text and its tool call',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start(410),
          ...thinking(0, 'First the weather.', 'EqkBCkYIAbCdEf'),
          ...text(1, 'Let me look.'),
          ...thinking(2, ' Oslo, then.', 'EqkBCkYIGhIjKl'),
          ...call(3, 'toolu_01NdT5vYk8QwXcRz3BmLhPfS', 'weather', '{"city": "Oslo"}'),
          ...end('tool_use', 410, 96),
        ),
      },
      expected: {
        text: 'Let me look.',
        reasoning: 'First the weather. Oslo, then.',
        toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
        usage: { inputTokens: 410, outputTokens: 96, cachedTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'hands over to another model in the middle of its thoughts',
      source: `${FIXTURES}/anthropic-fallback-mid-output.chunks.txt`,
      answer: {
        body: namedEvents(
          start(10),
          ...thinking(0, 'The first model begins.', 'EqkBCkYIMnOpQr'),
          open(1, {
            type: 'fallback',
            from: { model: 'claude-opus-5' },
            to: { model: 'claude-sonnet-5' },
          }),
          close(1),
          ...thinking(2, ' The second goes on.', 'EqkBCkYIStUvWx'),
          ...call(3, 'toolu_01CgR8yJw4KzVnQb6XtMsHpD', 'weather', '{"city": "Oslo"}'),
          HANDED_OVER,
          { type: 'message_stop' },
        ),
      },
      expected: {
        text: '',
        reasoning: 'The first model begins. The second goes on.',
        toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
        usage: { inputTokens: 10, outputTokens: 70, cachedTokens: 0 },
      },
      sdk: 'agrees',
    },
  ],
};
