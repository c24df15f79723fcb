import { namedEvents, type ProviderShapes } from '../wire-shape.ts';

const FIXTURES = 'https://github.com/vercel/ai/blob/main/packages/anthropic/src/__fixtures__';
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src';
const FINE_GRAINED =
  'https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
const USAGE = { inputTokens: 565, outputTokens: 48, cachedTokens: 0 };

function start(): Event {
  const message = {
    model: 'claude-haiku-4-5-20251001',
    id: 'msg_01TgB6wKcLx9VfQs4RzHmYpN',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 565,
      ...NO_CACHE,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      service_tier: 'standard',
    },
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

/** A call whose input comes in the given pieces. */
function call(index: number, block: object, ...pieces: readonly string[]): Event[] {
  return [
    open(index, { type: 'tool_use', ...block }),
    ...pieces.map((piece) => more(index, { type: 'input_json_delta', partial_json: piece })),
    close(index),
  ];
}

function end(stopReason = 'tool_use', usageMore: object = {}): Event[] {
  return [
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { input_tokens: 565, ...NO_CACHE, output_tokens: 48, ...usageMore },
    },
    { type: 'message_stop' },
  ];
}

/** How the Messages API streams tool calls. */
export const anthropicMessagesToolsShapes: ProviderShapes = {
  provider: 'anthropic',
  api: 'messages',
  shapes: [
    {
      name: 'opens the input of a call with an empty piece',
      source: `${FIXTURES}/anthropic-issue-11719-quoted-tool-input.chunks.txt`,
      answer: {
        body: namedEvents(
          start(),
          ...call(
            0,
            { id: 'toolu_01KvPz7sHgXt3QnYw5LcRfMb', name: 'write', input: {}, caller: { type: 'direct' } },
            '',
            '{"text": "She said \\',
            '"no\\" and le',
            'ft."}',
          ),
          ...end(),
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'write', arguments: { text: 'She said "no" and left.' } }],
        usage: USAGE,
      },
      sdk: 'agrees',
    },
    {
      name: 'calls a tool without arguments by an empty piece only',
      source: `${FIXTURES}/anthropic-tool-no-args.chunks.txt`,
      answer: {
        body: namedEvents(
          start(),
          { type: 'ping' },
          ...text(0, 'I will refresh it.'),
          { type: 'ping' },
          ...call(1, { id: 'toolu_01ZrNw4xBgTq8KdVs2HyJcLm', name: 'refresh', input: {} }, ''),
          ...end(),
        ),
      },
      expected: {
        text: 'I will refresh it.',
        toolCalls: [{ name: 'refresh', arguments: {} }],
        usage: USAGE,
      },
      sdk: 'agrees',
    },
    {
      name: 'calls two tools after its text',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start(),
          ...text(0, 'Both cities.'),
          ...call(
            1,
            { id: 'toolu_01BqWn6vHkXs3RzLd8TyGcPf', name: 'weather', input: {} },
            '',
            '{"city": "O',
            'slo"}',
          ),
          ...call(
            2,
            { id: 'toolu_01DsLc4zYtKw7QgXm5NvHbRj', name: 'weather', input: {} },
            '',
            '{"city": "Rome"}',
          ),
          ...end(),
        ),
      },
      expected: {
        text: 'Both cities.',
        toolCalls: [
          { name: 'weather', arguments: { city: 'Oslo' } },
          { name: 'weather', arguments: { city: 'Rome' } },
        ],
        usage: USAGE,
      },
      sdk: 'agrees',
    },
    {
      name: 'streams the input of an eager tool unchecked and sends invalid JSON',
      source: FINE_GRAINED,
      answer: {
        body: namedEvents(
          start(),
          ...call(
            0,
            { id: 'toolu_01WmXc9bRtKy6ZsHq3NvPgLd', name: 'write', input: {} },
            '{"lines": ["one", ',
            '"two"',
          ),
          ...end(),
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'write', arguments: '{"lines": ["one", "two"' }],
        usage: USAGE,
      },
      sdk: { differs: 'The SDK completes the cut JSON by itself.' },
    },
    {
      name: 'stops at max_tokens in the middle of an input',
      source: FINE_GRAINED,
      answer: {
        body: namedEvents(
          start(),
          ...call(
            0,
            { id: 'toolu_01GsYd5nVfJx7QwKb2CzTrHp', name: 'write', input: {} },
            '{"text": "It was a da',
            'rk and stor',
          ),
          ...end('max_tokens'),
        ),
      },
      expected: { failure: /limit|length|token/i, text: '' },
      sdk: { differs: 'The SDK completes the cut JSON by itself.' },
    },
    {
      name: 'runs a web search by itself',
      source: `${FIXTURES}/anthropic-web-search-tool.1.chunks.txt`,
      answer: {
        body: namedEvents(
          start(),
          ...text(0, 'I search. '),
          open(1, {
            type: 'server_tool_use',
            id: 'srvtoolu_01PqLk8xNvGt4CzWs6RdYbHf',
            name: 'web_search',
            input: {},
          }),
          more(1, { type: 'input_json_delta', partial_json: '' }),
          more(1, { type: 'input_json_delta', partial_json: '{"query": "news"}' }),
          close(1),
          open(2, {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_01PqLk8xNvGt4CzWs6RdYbHf',
            content: [
              {
                type: 'web_search_result',
                title: 'News',
                url: 'https://example.com/news',
                encrypted_content: 'EuYPCioICRgCIiQ',
                page_age: 'September 25, 2025',
              },
            ],
          }),
          close(2),
          ...text(3, 'No news.'),
          ...end('end_turn', { server_tool_use: { web_search_requests: 1 } }),
        ),
      },
      expected: { text: 'I search. No news.', usage: USAGE },
      sdk: 'agrees',
    },
  ],
};
