import type { JsonObject } from '../rules/body-fields.ts';
import { namedEvents } from '../wire-shape.ts';
import { halves, type NamedCall, type Saying, type Voice } from './voice.ts';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

type ThoughtKind = 'signed' | 'redacted' | 'unsigned';

interface Block {
  readonly begin: object;
  readonly deltas: readonly object[];
}

/**
 * Anthropic's Messages API: blocks of thinking, text and calls. Thinking has to come back as it came.
 *
 * @param kind `redacted`: an encrypted thought follows the one that it shows. Only Claude signs its thoughts.
 */
export function messagesVoice(kind: ThoughtKind): Voice {
  return (saying, mark) => {
    const calls = saying.calls.map((call, place) => ({
      ...call,
      id: `toolu_01${mark}KvPz7sHgXt3Qn${place}`,
    }));
    const thoughts = thoughtsOf(saying, mark, kind);
    const blocks = [
      ...thoughts.map(thoughtBlock),
      ...(saying.text === '' ? [] : [textBlock(saying.text)]),
      ...calls.map(callBlock),
    ];
    const body = namedEvents(
      { type: 'message_start', ...{ message: { ...MESSAGE, id: `msg_01${mark}` } } },
      { type: 'ping' },
      ...blocks.flatMap(eventsOf),
      delta('message_delta', {
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
        usage: USAGE,
      }),
      { type: 'message_stop' },
    );
    return { answer: { body }, calls, reasoning: saying.reasoning, returned: thoughts };
  };
}

const USAGE = { output_tokens: 25 };
const MESSAGE = {
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [],
  stop_reason: null,
  usage: { input_tokens: 30, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
};

function delta(type: string, fields: object): Event {
  return { type, ...fields };
}

function thoughtsOf({ reasoning }: Saying, mark: string, kind: ThoughtKind): readonly JsonObject[] {
  if (reasoning === '') return [];
  if (kind === 'unsigned') return [{ type: 'thinking', thinking: reasoning }];
  const shown = { type: 'thinking', thinking: reasoning, signature: `EqkBCkYICxgC${mark}Kkr3nQ2+/==` };
  const hidden = { type: 'redacted_thinking', data: `EmwKAhgBEgy3va3pzix${mark}==` };
  return kind === 'redacted' ? [shown, hidden] : [shown];
}

function thoughtBlock(thought: JsonObject): Block {
  const { type, thinking, signature } = thought;
  if (type !== 'thinking') return { begin: thought, deltas: [] };
  return {
    begin: { type, thinking: '', ...(signature !== undefined && { signature: '' }) },
    deltas: [
      ...halves(String(thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      ...(signature === undefined ? [] : [{ type: 'signature_delta', signature }]),
    ],
  };
}

function textBlock(text: string): Block {
  return {
    begin: { type: 'text', text: '' },
    deltas: halves(text).map((piece) => ({ type: 'text_delta', text: piece })),
  };
}

function callBlock({ id, name, arguments: args }: NamedCall): Block {
  return {
    begin: { type: 'tool_use', id, name, input: {} },
    deltas: ['', ...halves(JSON.stringify(args))].map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    })),
  };
}

function eventsOf({ begin, deltas }: Block, index: number): readonly Event[] {
  return [
    delta('content_block_start', { index, content_block: begin }),
    ...deltas.map((piece) => delta('content_block_delta', { index, delta: piece })),
    delta('content_block_stop', { index }),
  ];
}
