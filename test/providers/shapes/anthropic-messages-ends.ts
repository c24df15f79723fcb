import { namedEvents, type ProviderShapes } from '../wire-shape.ts';

const FIXTURES = 'https://github.com/vercel/ai/blob/main/packages/anthropic/src/__fixtures__';
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src';
const STOP_REASONS = 'https://platform.claude.com/docs/build-with-claude/handling-stop-reasons';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

function start(): Event {
  const message = {
    model: 'claude-sonnet-4-5-20250929',
    id: 'msg_01VbK2sGfXw8LzPq6HnTcD3M',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 15,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
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

/** A whole block of text in one delta. */
function text(index: number, said: string): Event[] {
  return [
    open(index, { type: 'text', text: '' }),
    more(index, { type: 'text_delta', text: said }),
    close(index),
  ];
}

function end(delta: object, outputTokens: number): Event[] {
  const usage = {
    input_tokens: 15,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
  return [{ type: 'message_delta', delta, usage }, { type: 'message_stop' }];
}

function stopped(reason: string, sequence: string | null = null): object {
  return { stop_reason: reason, stop_sequence: sequence };
}

function usage(outputTokens: number): { inputTokens: number; outputTokens: number; cachedTokens: number } {
  return { inputTokens: 15, outputTokens, cachedTokens: 0 };
}

/** For which reasons a message of the Messages API ends. */
export const anthropicMessagesEndsShapes: ProviderShapes = {
  provider: 'anthropic',
  api: 'messages',
  shapes: [
    {
      name: 'stops at max_tokens after some text',
      source: STOP_REASONS,
      answer: { body: namedEvents(start(), ...text(0, 'Once upon a'), ...end(stopped('max_tokens'), 4)) },
      expected: { text: 'Once upon a', finishReason: 'length', usage: usage(4) },
      sdk: 'agrees',
    },
    {
      name: 'stops at max_tokens while it only thinks',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start(),
          open(0, { type: 'thinking', thinking: '', signature: '' }),
          more(0, { type: 'thinking_delta', thinking: 'Let me see.' }),
          close(0),
          ...end(stopped('max_tokens'), 16),
        ),
      },
      expected: { failure: /limit|length|token/i, text: '' },
      sdk: { differs: 'The SDK returns the message without text and leaves the judgement to its caller.' },
    },
    {
      name: 'stops because the context window is full',
      source: STOP_REASONS,
      answer: {
        body: namedEvents(
          start(),
          ...text(0, 'The last words'),
          ...end(stopped('model_context_window_exceeded'), 5),
        ),
      },
      expected: { text: 'The last words', finishReason: 'length', usage: usage(5) },
      sdk: 'agrees',
    },
    {
      name: 'stops at a stop sequence and names it',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(start(), ...text(0, 'One, two'), ...end(stopped('stop_sequence', ', three'), 6)),
      },
      expected: { text: 'One, two', usage: usage(6) },
      sdk: 'agrees',
    },
    {
      name: 'pauses a long turn',
      source: STOP_REASONS,
      answer: {
        body: namedEvents(start(), ...text(0, 'Let me look that up.'), ...end(stopped('pause_turn'), 8)),
      },
      expected: { text: 'Let me look that up.', usage: usage(8) },
      sdk: 'agrees',
    },
    {
      name: 'ends its turn without a word',
      source: STOP_REASONS,
      answer: { body: namedEvents(start(), ...end(stopped('end_turn'), 2)) },
      expected: { failure: /empty|nothing/i, text: '' },
      sdk: { differs: 'The SDK returns the message without content.' },
    },
    {
      name: 'refuses before the first word and says why in stop_details',
      source: `${FIXTURES}/anthropic-refusal.chunks.txt`,
      answer: {
        body: namedEvents(
          start(),
          { type: 'ping' },
          ...end(
            {
              ...stopped('refusal'),
              stop_details: {
                type: 'refusal',
                category: 'cyber',
                explanation: 'This request could enable cyber harm.',
              },
            },
            5,
          ),
        ),
      },
      expected: { failure: /filter|safety|refus/i, text: '' },
      sdk: 'agrees',
    },
    {
      name: 'refuses in the middle of its text and does not say why',
      source: `${SDK}/resources/messages/messages.ts`,
      answer: {
        body: namedEvents(
          start(),
          ...text(0, 'First, you take'),
          ...end({ ...stopped('refusal'), stop_details: null }, 9),
        ),
      },
      expected: { failure: /filter|safety|refus/i, text: 'First, you take' },
      sdk: 'agrees',
    },
    {
      name: 'closes the stream after half of a block',
      source: `${SDK}/lib/MessageStream.ts`,
      answer: {
        body: namedEvents(
          start(),
          open(0, { type: 'text', text: '' }),
          more(0, { type: 'text_delta', text: 'This is only' }),
        ),
      },
      expected: { failure: /complete|ended|closed/i, text: 'This is only' },
      sdk: 'agrees',
    },
    {
      name: 'closes the stream after message_start',
      source: `${SDK}/lib/MessageStream.ts`,
      answer: { body: namedEvents(start(), { type: 'ping' }) },
      expected: { failure: /complete|ended|closed/i, text: '' },
      sdk: 'agrees',
    },
    {
      name: 'closes the stream without any event',
      source: `${SDK}/lib/MessageStream.ts`,
      answer: { body: '' },
      expected: { failure: /complete|ended|closed|empty|nothing/i, text: '' },
      sdk: 'agrees',
    },
  ],
};
