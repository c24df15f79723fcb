import { namedEvents, type ProviderShapes } from '../wire-shape.ts';

const FIXTURES = 'https://github.com/vercel/ai/blob/main/packages/anthropic/src/__fixtures__';
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src';
const VERSIONING = 'https://platform.claude.com/docs/en/api/versioning';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What the counters say when a request neither wrote nor read a cache. */
const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

function start(usage: object): Event {
  const message = {
    model: 'claude-sonnet-4-5-20250929',
    id: 'msg_01QmWtS7kYh3vC5xNpJdRe4B',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
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

/** A whole block of text in one delta. */
function text(index: number, said: string): Event[] {
  return [
    open(index, { type: 'text', text: '' }),
    more(index, { type: 'text_delta', text: said }),
    close(index),
  ];
}

function end(delta: object, usage: object): Event {
  return { type: 'message_delta', delta, usage };
}

const END_TURN = { stop_reason: 'end_turn', stop_sequence: null };
const PING = { type: 'ping' };
/** An event that this version of the interface does not know. */
const PROGRESS = { type: 'message_progress', progress: 0.5 };
const STOP = { type: 'message_stop' };

/** How the Messages API streams text, counts tokens and frames its events. */
export const anthropicMessagesShapes: ProviderShapes = {
  provider: 'anthropic',
  api: 'messages',
  shapes: [
    {
      name: 'sends a ping after the first block has begun',
      source: `${FIXTURES}/anthropic-text.chunks.txt`,
      answer: {
        body: namedEvents(
          start({
            input_tokens: 12,
            ...NO_CACHE,
            cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
            output_tokens: 1,
            service_tier: 'standard',
            inference_geo: 'not_available',
          }),
          open(0, { type: 'text', text: '' }),
          PING,
          more(0, { type: 'text_delta', text: 'Good' }),
          more(0, { type: 'text_delta', text: ' morning!' }),
          close(0),
          end(END_TURN, { input_tokens: 12, ...NO_CACHE, output_tokens: 30 }),
          STOP,
        ),
      },
      expected: { text: 'Good morning!', usage: { inputTokens: 12, outputTokens: 30, cachedTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'counts cached tokens apart from the input tokens',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start({
            input_tokens: 4,
            cache_creation_input_tokens: 210,
            cache_read_input_tokens: 1800,
            cache_creation: { ephemeral_5m_input_tokens: 210, ephemeral_1h_input_tokens: 0 },
            output_tokens: 2,
            service_tier: 'standard',
          }),
          ...text(0, 'From the cache.'),
          end(END_TURN, {
            input_tokens: 4,
            cache_creation_input_tokens: 210,
            cache_read_input_tokens: 1800,
            output_tokens: 7,
          }),
          STOP,
        ),
      },
      expected: {
        text: 'From the cache.',
        usage: { inputTokens: 2014, outputTokens: 7, cachedTokens: 1800 },
      },
      sdk: 'agrees',
    },
    {
      name: 'counts cached tokens in message_start only',
      source: `${SDK}/lib/MessageStream.ts`,
      answer: {
        body: namedEvents(
          start({
            input_tokens: 25,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 100,
            output_tokens: 1,
          }),
          ...text(0, 'Hello!'),
          end(END_TURN, { output_tokens: 15 }),
          STOP,
        ),
      },
      expected: { text: 'Hello!', usage: { inputTokens: 125, outputTokens: 15, cachedTokens: 100 } },
      sdk: 'agrees',
    },
    {
      name: 'corrects the input tokens in message_delta and says nothing of caches',
      source: `${FIXTURES}/anthropic-message-delta-input-tokens.chunks.txt`,
      answer: {
        body: namedEvents(
          start({ input_tokens: 43, output_tokens: 0 }),
          open(0, { text: '', type: 'text' }),
          more(0, { text: 'Two', type: 'text_delta' }),
          close(0),
          end({ stop_reason: 'end_turn' }, { input_tokens: 61, output_tokens: 2 }),
          STOP,
        ),
      },
      expected: { text: 'Two', usage: { inputTokens: 61, outputTokens: 2 } },
      sdk: 'agrees',
    },
    {
      name: 'sends counters that are null in message_delta',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start({ input_tokens: 20, ...NO_CACHE, cache_read_input_tokens: 5, output_tokens: 1 }),
          ...text(0, 'Counted before.'),
          end(
            { ...END_TURN, container: null, stop_details: null },
            {
              cache_creation_input_tokens: null,
              cache_read_input_tokens: null,
              input_tokens: null,
              output_tokens: 6,
              output_tokens_details: null,
              server_tool_use: null,
            },
          ),
          STOP,
        ),
      },
      expected: { text: 'Counted before.', usage: { inputTokens: 25, outputTokens: 6, cachedTokens: 5 } },
      sdk: 'agrees',
    },
    {
      name: 'pads its JSON with blanks',
      source: `${FIXTURES}/anthropic-claude-sonnet-5-reasoning-generic.chunks.txt`,
      answer: {
        body: [
          namedEvents(start({ input_tokens: 9, ...NO_CACHE, output_tokens: 1 })),
          'event: content_block_start\n',
          'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}     }\n\n',
          'event: ping\ndata: {"type": "ping"}\n\n',
          'event: content_block_delta\n',
          'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Padded."}  }\n\n',
          'event: content_block_stop\ndata: {"type":"content_block_stop","index":0      }\n\n',
          namedEvents(end(END_TURN, { input_tokens: 9, ...NO_CACHE, output_tokens: 4 })),
          'event: message_stop\ndata: {"type":"message_stop"       }\n\n',
        ],
      },
      expected: { text: 'Padded.', usage: { inputTokens: 9, outputTokens: 4, cachedTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'splits the text over several blocks when it cites',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start({ input_tokens: 300, ...NO_CACHE, output_tokens: 1 }),
          ...text(0, 'The handbook says that '),
          open(1, { citations: [], type: 'text', text: '' }),
          more(1, {
            type: 'citations_delta',
            citation: {
              type: 'char_location',
              cited_text: 'Leave is thirty days.',
              document_index: 0,
              document_title: 'Handbook',
              start_char_index: 0,
              end_char_index: 21,
              file_id: null,
            },
          }),
          more(1, { type: 'text_delta', text: 'leave is thirty days' }),
          close(1),
          ...text(2, '.'),
          end(END_TURN, { input_tokens: 300, ...NO_CACHE, output_tokens: 20 }),
          STOP,
        ),
      },
      expected: {
        text: 'The handbook says that leave is thirty days.',
        usage: { inputTokens: 300, outputTokens: 20, cachedTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends events, deltas and blocks of types that are new',
      source: VERSIONING,
      answer: {
        body: namedEvents(
          start({ input_tokens: 8, ...NO_CACHE, output_tokens: 1 }),
          PROGRESS,
          open(0, { type: 'new_block' }),
          more(0, { type: 'new_delta', value: 'unknown' }),
          close(0),
          ...text(1, 'Still here.'),
          end(END_TURN, { input_tokens: 8, ...NO_CACHE, output_tokens: 5 }),
          STOP,
        ),
      },
      expected: { text: 'Still here.', usage: { inputTokens: 8, outputTokens: 5, cachedTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'summarizes a long conversation in a compaction block before it answers',
      source: `${SDK}/resources/beta/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start({ input_tokens: 900, ...NO_CACHE, output_tokens: 1 }),
          open(0, { type: 'compaction', content: null, encrypted_content: null }),
          more(0, { type: 'compaction_delta', content: 'They spoke of leave.', encrypted_content: null }),
          close(0),
          ...text(1, 'Thirty days.'),
          end(END_TURN, { input_tokens: 900, ...NO_CACHE, output_tokens: 12 }),
          STOP,
        ),
      },
      expected: { text: 'Thirty days.', usage: { inputTokens: 900, outputTokens: 12, cachedTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'sends message_start twice',
      source: `${FIXTURES}/duplicate-message-start.chunks.txt`,
      answer: {
        body: namedEvents(
          start({ input_tokens: 17, ...NO_CACHE, output_tokens: 1 }),
          start({ input_tokens: 17, ...NO_CACHE, output_tokens: 1 }),
          ...text(0, 'Once.'),
          end(END_TURN, { input_tokens: 17, ...NO_CACHE, output_tokens: 227 }),
          STOP,
        ),
      },
      expected: { text: 'Once.', usage: { inputTokens: 17, outputTokens: 227, cachedTokens: 0 } },
      sdk: { differs: 'The SDK throws on the second message_start.' },
    },
  ],
};
