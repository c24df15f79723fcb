import { namedEvents } from '../wire-shape.ts';
import { halves, type NamedCall, type Saying, type Voice } from './voice.ts';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An item of the output: as it begins, as it ends, and what is streamed in between. */
interface Item {
  readonly begun: object;
  readonly done: object;
  events(place: number): readonly Event[];
}

/**
 * OpenAI's Responses API: items of reasoning, messages and calls. The encrypted reasoning has to come back without its
 * id, and a message with its phase.
 */
export const responsesVoice: Voice = (saying, mark) => {
  const calls = saying.calls.map((call, place) => ({
    ...call,
    id: `call_${mark}DNYTawLBoN8fj3KN6qU9${place}`,
  }));
  const items = itemsOf(saying, calls, mark);
  const output = items.map(({ done }) => done);
  const response = { id: `resp_${mark}`, object: 'response', created_at: 1_788_205_738, model: 'gpt-5.6' };
  const body = namedEvents(
    event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
    event('response.in_progress', { response: { ...response, status: 'in_progress', output: [] } }),
    ...items.flatMap(({ begun, done, events }, output_index) => [
      event('response.output_item.added', { output_index, item: begun }),
      ...events(output_index),
      event('response.output_item.done', { output_index, item: done }),
    ]),
    event('response.completed', { response: { ...response, status: 'completed', output, usage: USAGE } }),
  );
  const { reasoning, text } = saying;
  const returned = [
    ...(reasoning === '' ? [] : [reasoningFields(saying, mark)]),
    ...(text === '' ? [] : [{ type: 'message', phase: phaseOf(saying) }]),
  ];
  return { answer: { body }, calls, reasoning, returned };
};

const USAGE = { input_tokens: 12, output_tokens: 2, total_tokens: 14 };

function event(type: string, fields: object): Event {
  return { type, ...fields };
}

function itemsOf(saying: Saying, calls: readonly NamedCall[], mark: string): readonly Item[] {
  return [
    ...(saying.reasoning === '' ? [] : [reasoningItem(saying, mark)]),
    ...(saying.text === '' ? [] : [messageItem(saying, mark)]),
    ...calls.map((call, place) => callItem(call, `fc_${mark}${place}`)),
  ];
}

function reasoningFields({ reasoning }: Saying, mark: string) {
  return {
    type: 'reasoning',
    encrypted_content: `gAAAAABpCCSI${mark}xdevbk-8QtJuf==`,
    summary: [{ type: 'summary_text', text: reasoning }],
  };
}

function reasoningItem(saying: Saying, mark: string): Item {
  const id = `rs_${mark}`;
  const fields = reasoningFields(saying, mark);
  return {
    // It is encrypted anew when it is done.
    begun: { id, ...fields, encrypted_content: 'gAAAAABpBEGUN', summary: [] },
    done: { id, ...fields },
    events: (output_index) =>
      halves(saying.reasoning).map((delta) =>
        event('response.reasoning_summary_text.delta', {
          item_id: id,
          output_index,
          summary_index: 0,
          delta,
        }),
      ),
  };
}

function phaseOf({ calls }: Saying): string {
  return calls.length > 0 ? 'commentary' : 'final_answer';
}

function messageItem(saying: Saying, mark: string): Item {
  const { text } = saying;
  const item = { id: `msg_${mark}`, type: 'message', role: 'assistant', phase: phaseOf(saying) };
  const part = { type: 'output_text', annotations: [], logprobs: [], text };
  const place = { item_id: item.id, content_index: 0 };
  return {
    begun: { ...item, status: 'in_progress', content: [] },
    done: { ...item, status: 'completed', content: [part] },
    events: (output_index) => [
      ...halves(text).map((delta) => event('response.output_text.delta', { ...place, output_index, delta })),
      event('response.output_text.done', { ...place, output_index, text }),
    ],
  };
}

function callItem({ id: call_id, name, arguments: given }: NamedCall, id: string): Item {
  const args = JSON.stringify(given);
  const item = { id, type: 'function_call', call_id, name };
  return {
    begun: { ...item, status: 'in_progress', arguments: '' },
    done: { ...item, status: 'completed', arguments: args },
    events: (output_index) => [
      ...halves(args).map((delta) =>
        event('response.function_call_arguments.delta', { item_id: id, output_index, delta }),
      ),
      event('response.function_call_arguments.done', { item_id: id, output_index, arguments: args }),
    ],
  };
}
