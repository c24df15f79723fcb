import { namedEvent, type TypedData } from './named-event.ts';

const PING = 'event: ping\ndata: {"type": "ping"}\n\n';
const PIECES_BETWEEN_PINGS = 60;
const MAX_BLANKS = 14;
const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

/**
 * A reply of these pieces as events of Anthropic's Messages API, with pings and with padding before the last brace. The
 * fields are those of test/providers/shapes/anthropic-messages.ts.
 */
export function anthropicEvents(pieces: readonly string[]): string[] {
  return [
    padded(opening()).join('') + PING,
    ...padded(pieces.map(textDelta)).map((event, index) =>
      index % PIECES_BETWEEN_PINGS === PIECES_BETWEEN_PINGS - 1 ? event + PING : event,
    ),
    padded(ending(pieces.length)).join(''),
  ];
}

function padded(events: readonly TypedData[]): string[] {
  return events.map((data, index) => namedEvent(data, (index * 5) % MAX_BLANKS));
}

function opening(): TypedData[] {
  const message = {
    model: 'claude-sonnet-4-5-20250929',
    id: 'msg_01QmWtS7kYh3vC5xNpJdRe4B',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, ...NO_CACHE, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ];
}

function textDelta(text: string): TypedData {
  return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
}

function ending(outputTokens: number): TypedData[] {
  const delta = { stop_reason: 'end_turn', stop_sequence: null };
  return [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta, usage: { input_tokens: 9, ...NO_CACHE, output_tokens: outputTokens } },
    { type: 'message_stop' },
  ];
}
