import { chunk } from '../../providers/wire-shape.ts';
import { type Ending, type ErrorKind, QUOTED, QUOTED_CODES, type Said } from './answers.ts';
import { fragments, joined, type ProviderFormat, type WireError } from './provider-format.ts';

const DETAIL = { type: 'reasoning.encrypted', data: 'gAAAA+/="é', format: 'x-v1', index: 0 };
/** What Google signs a call with. */
const SIGNED = { google: { thought_signature: 'c2ln+/="' } };

const reasons: Readonly<Record<Ending, string>> = {
  stop: 'stop',
  length: 'length',
  filtered: 'content_filter',
  unknown: 'strange_end',
};

/** OpenAI's chat completions. */
export const chatFormat: ProviderFormat = {
  llm: { provider: 'openai', api: 'chat', model: 'gpt-test' },
  events: (said) => [event(chunk({ role: 'assistant', content: '' })), ...deltasOf(said).map(deltaEvent)],
  end(said, ending) {
    const reason = ending === 'stop' && said.some(isCall) ? 'tool_calls' : reasons[ending];
    const usage = { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 };
    return [event(chunk({}, reason)), event({ ...chunk(null), choices: [], usage }), 'data: [DONE]\n\n'];
  },
  whole: (said, ending) => ({
    object: 'chat.completion',
    choices: [{ index: 0, message: messageOf(said), finish_reason: reasons[ending] }],
  }),
  error: chatError,
  errorEvent: (kind) => event(chatError(kind).body),
  settingFields: { max_completion_tokens: 321, temperature: 0.5 },
  imagePart: ({ mimeType, base64 }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${base64}` },
  }),
  returned: `"reasoning_details":${JSON.stringify([DETAIL])}`,
};

/** The errors of OpenAI, over either of its interfaces. */
export function openAiError(kind: ErrorKind): { status: number; type: string; code: string | null } {
  switch (kind) {
    case 'key':
      return { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' };
    case 'model':
      return { status: 404, type: 'invalid_request_error', code: 'model_not_found' };
    case 'quota':
      return { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' };
    case 'rate':
      return { status: 429, type: 'requests', code: 'rate_limit_exceeded' };
    case 'overloaded':
      return { status: 503, type: 'server_error', code: null };
    case 'context':
      return { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' };
    case 'image':
      return { status: 400, type: 'invalid_request_error', code: 'invalid_image_format' };
    default:
      return kind satisfies never;
  }
}

function chatError(kind: ErrorKind): WireError {
  const { status, type, code } = openAiError(kind);
  return { status, body: { error: { message: QUOTED, type, code, ...QUOTED_CODES } } };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function deltaEvent(delta: object): string {
  return event(chunk(delta));
}

function deltasOf(said: readonly Said[]): object[] {
  const calls = said.filter(isCall);
  const lastThought = said.findLastIndex(({ type }) => type === 'reasoning');
  return said.flatMap((piece, at): object[] => {
    switch (piece.type) {
      case 'text':
        return [{ content: piece.text }];
      case 'refusal':
        return [{ refusal: piece.text }];
      case 'reasoning': {
        const thought = { reasoning: piece.text };
        return at === lastThought ? [thought, { reasoning_details: [DETAIL] }] : [thought];
      }
      case 'call': {
        const index = calls.indexOf(piece);
        const { id, name, arguments: args } = piece;
        const begin = {
          index,
          id,
          type: 'function',
          function: { name, arguments: '' },
          extra_content: SIGNED,
        };
        const more = fragments(args).map((text) => ({ index, function: { arguments: text } }));
        return [begin, ...more].map((call) => ({ tool_calls: [call] }));
      }
      default:
        return piece satisfies never;
    }
  });
}

function isCall(piece: Said): piece is Extract<Said, { type: 'call' }> {
  return piece.type === 'call';
}

function messageOf(said: readonly Said[]): object {
  const of = (type: Said['type']): string => joined(said.filter((piece) => piece.type === type));
  return {
    role: 'assistant',
    content: of('text'),
    reasoning: of('reasoning'),
    ...(of('refusal') !== '' && { refusal: of('refusal') }),
    tool_calls: said.filter(isCall).map(({ id, name, arguments: args }) => {
      return { id, type: 'function', function: { name, arguments: args } };
    }),
  };
}
