import { namedEvents } from '../../providers/wire-shape.ts';
import { type Ending, type ErrorKind, QUOTED, QUOTED_CODES, type Said } from './answers.ts';
import { fragments, isCut, joined, type ProviderFormat, partsOf, type WireError } from './provider-format.ts';

const SIGNATURE = 'c2ln+/="é';

type Event = { readonly type: string; readonly [field: string]: unknown };

const reasons: Readonly<Record<Ending, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  filtered: 'refusal',
  unknown: 'strange_end',
};

/** Anthropic's Messages API. A model of this version takes a temperature. */
export const messagesFormat: ProviderFormat = {
  llm: { provider: 'anthropic', api: 'messages', model: 'claude-sonnet-4-6' },
  events: (said) => [START, ...partsOf(said).flatMap(blockEvents)].map((event) => namedEvents(event)),
  end: (said, ending) => {
    const delta = { stop_reason: reasonOf(said, ending), stop_sequence: null };
    const last: Event = { type: 'message_delta', delta, usage: { output_tokens: 11 } };
    return [namedEvents(last), namedEvents({ type: 'message_stop' })];
  },
  whole: (said, ending) => ({
    type: 'message',
    role: 'assistant',
    content: partsOf(said).map(blockOf),
    stop_reason: reasonOf(said, ending),
    usage: { input_tokens: 7, output_tokens: 11 },
  }),
  error: messagesError,
  errorEvent: (kind) => `event: error\ndata: ${JSON.stringify(messagesError(kind).body)}\n\n`,
  settingFields: { max_tokens: 321, temperature: 0.5 },
  imagePart: ({ mimeType, base64 }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mimeType, data: base64 },
  }),
  returned: JSON.stringify({
    type: 'thinking',
    thinking: 'Let me see.',
    signature: SIGNATURE,
    zeta: [1, 'two'],
  }),
};

const START: Event = {
  type: 'message_start',
  message: { type: 'message', role: 'assistant', content: [], usage: { input_tokens: 7, output_tokens: 1 } },
};

function reasonOf(said: readonly Said[], ending: Ending): string {
  return ending === 'stop' && said.some(({ type }) => type === 'call') ? 'tool_use' : reasons[ending];
}

function messagesError(kind: ErrorKind): WireError {
  const [status, type, words] = errorOf(kind);
  return {
    status,
    body: { type: 'error', error: { type, message: `${words}: ${QUOTED}`, ...QUOTED_CODES } },
  };
}

function errorOf(kind: ErrorKind): [status: number, type: string, words: string] {
  switch (kind) {
    case 'key':
      return [401, 'authentication_error', 'invalid x-api-key'];
    case 'model':
      return [404, 'not_found_error', 'model: claude-sonnet-4-6'];
    case 'quota':
      return [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API'];
    case 'rate':
      return [429, 'rate_limit_error', 'This request would exceed the rate limit of your organization'];
    case 'overloaded':
      return [529, 'overloaded_error', 'Overloaded'];
    case 'context':
      return [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'];
    case 'image':
      return [
        400,
        'invalid_request_error',
        'messages.0.content.0.image.source.base64: Could not process image',
      ];
    default:
      return kind satisfies never;
  }
}

function blockEvents(part: readonly Said[], index: number): Event[] {
  const block = blockOf(part);
  const empty = { text: '', thinking: '', signature: '', input: {} };
  const fields = Object.entries(block).map(([name, value]) => [name, Reflect.get(empty, name) ?? value]);
  const deltas = part.flatMap(deltasOf);
  if (part[0]?.type === 'reasoning') deltas.push({ type: 'signature_delta', signature: SIGNATURE });
  return [
    { type: 'content_block_start', index, content_block: Object.fromEntries(fields) },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function deltasOf(piece: Said): object[] {
  switch (piece.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text_delta', text: piece.text }];
    case 'reasoning':
      return [{ type: 'thinking_delta', thinking: piece.text }];
    case 'call':
      return fragments(piece.arguments).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    default:
      return piece satisfies never;
  }
}

function blockOf(part: readonly Said[]): object {
  const [first] = part;
  if (first?.type === 'call') {
    const input: unknown = isCut(first) ? {} : JSON.parse(first.arguments);
    return { type: 'tool_use', id: first.id, name: first.name, input };
  }
  const text = joined(part);
  if (first?.type !== 'reasoning') return { type: 'text', text };
  return { type: 'thinking', thinking: text, signature: SIGNATURE, zeta: [1, 'two'] };
}
