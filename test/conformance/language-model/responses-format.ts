import { namedEvents } from '../../providers/wire-shape.ts';
import { type Ending, type ErrorKind, QUOTED, QUOTED_CODES, type Said } from './answers.ts';
import { openAiError } from './chat-format.ts';
import { fragments, isCut, joined, type ProviderFormat, partsOf, type WireError } from './provider-format.ts';

const ENCRYPTED = { encrypted_content: 'gAAAA+/="é', zeta: [1, 'two'] };

type Event = { readonly type: string; readonly [field: string]: unknown };

/** OpenAI's Responses API. */
export const responsesFormat: ProviderFormat = {
  llm: { provider: 'openai', api: 'responses', model: 'gpt-test' },
  events: (said) => [CREATED, ...partsOf(said).flatMap(partEvents)].map((event) => namedEvents(event)),
  end: (said, ending) => [namedEvents(endOf(said, ending))],
  whole: (said, ending) => responseOf(said, ending),
  error: responsesError,
  errorEvent: (kind) => {
    const { type: _, code } = openAiError(kind);
    const event: Event = { type: 'error', code: code ?? 'server_error', message: QUOTED, ...QUOTED_CODES };
    return namedEvents(event);
  },
  settingFields: { max_output_tokens: 321, temperature: 0.5 },
  imagePart: ({ mimeType, base64 }) => ({
    type: 'input_image',
    detail: 'auto',
    image_url: `data:${mimeType};base64,${base64}`,
  }),
  // Neither its id nor its status go back: nothing is stored there that they could refer to.
  returned: JSON.stringify({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Let me see.' }],
    ...ENCRYPTED,
  }),
};

const CREATED: Event = {
  type: 'response.created',
  response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] },
};

function responsesError(kind: ErrorKind): WireError {
  const { status, type, code } = openAiError(kind);
  return { status, body: { error: { message: QUOTED, type, code, ...QUOTED_CODES } } };
}

function endOf(said: readonly Said[], ending: Ending): Event {
  const type = ending === 'stop' ? 'response.completed' : 'response.incomplete';
  return { type, response: responseOf(said, ending) };
}

const reasons: Readonly<Record<Exclude<Ending, 'stop'>, string>> = {
  length: 'max_output_tokens',
  filtered: 'content_filter',
  unknown: 'strange_end',
};

function responseOf(said: readonly Said[], ending: Ending): object {
  const isComplete = ending === 'stop';
  return {
    id: 'resp_1',
    object: 'response',
    status: isComplete ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: isComplete ? null : { reason: reasons[ending] },
    output: partsOf(said).map(itemOf),
    usage: { input_tokens: 7, output_tokens: 11, total_tokens: 18 },
  };
}

function partEvents(part: readonly Said[], output_index: number): Event[] {
  const item = itemOf(part, output_index);
  const end = { type: 'response.output_item.done', output_index, item };
  const deltas = part.flatMap((piece): Event[] => deltaEvents(piece, output_index));
  return [{ type: 'response.output_item.added', output_index, item: begunOf(item) }, ...deltas, end];
}

function deltaEvents(piece: Said, output_index: number): Event[] {
  switch (piece.type) {
    case 'text':
      return [{ type: 'response.output_text.delta', output_index, content_index: 0, delta: piece.text }];
    case 'refusal':
      return [{ type: 'response.refusal.delta', output_index, content_index: 0, delta: piece.text }];
    case 'reasoning': {
      const type = 'response.reasoning_summary_text.delta';
      return [{ type, output_index, summary_index: 0, delta: piece.text }];
    }
    case 'call':
      return fragments(piece.arguments).map((delta) => {
        return { type: 'response.function_call_arguments.delta', output_index, delta };
      });
    default:
      return piece satisfies never;
  }
}

/** An item as it stands in the output. */
function itemOf(part: readonly Said[], index: number): Readonly<Record<string, unknown>> {
  const [first] = part;
  const status = 'completed';
  if (first?.type === 'call') {
    const { id, name, arguments: args } = first;
    const state = isCut(first) ? 'incomplete' : status;
    return { id: `fc_${index}`, type: 'function_call', status: state, call_id: id, name, arguments: args };
  }
  const text = joined(part);
  if (first?.type === 'reasoning') {
    return {
      id: `rs_${index}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text }],
      ...ENCRYPTED,
      status,
    };
  }
  const said = { type: 'output_text', text, annotations: [] };
  const content = first?.type === 'refusal' ? { type: 'refusal', refusal: text } : said;
  return { id: `msg_${index}`, type: 'message', status, role: 'assistant', content: [content] };
}

/** The same item when nothing of it was said. */
function begunOf(item: Readonly<Record<string, unknown>>): object {
  const { arguments: args, encrypted_content: _, ...begun } = item;
  const empty = { content: [], summary: [] };
  const fields = Object.entries(begun).map(([name, value]) => [name, Reflect.get(empty, name) ?? value]);
  return {
    ...Object.fromEntries(fields),
    status: 'in_progress',
    ...(args !== undefined && { arguments: '' }),
  };
}
