import { padding } from './chat-reply.ts';
import { namedEvent, type TypedData } from './named-event.ts';

const RESPONSE = 'resp_sanitized_streaming';
const ITEM = 'msg_sanitized_streaming';
const INPUT_TOKENS = 12;

/**
 * A reply of these pieces as events of OpenAI's Responses API. The events are numbered and padded, and the last ones
 * repeat the whole text four times. The fields are those of test/providers/shapes/openai-responses.ts.
 */
export function responsesEvents(pieces: readonly string[]): string[] {
  const begun = opening();
  const deltas = pieces.map(textDelta);
  const numbered = [...begun, ...deltas, ...ending(pieces)].map((data, index) =>
    namedEvent({ ...data, sequence_number: index }),
  );
  const [first, last] = [begun.length, begun.length + deltas.length];
  return [numbered.slice(0, first).join(''), ...numbered.slice(first, last), numbered.slice(last).join('')];
}

function opening(): TypedData[] {
  const begun = response('in_progress', {});
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', item: message('in_progress', []), output_index: 0 },
    {
      type: 'response.content_part.added',
      content_index: 0,
      item_id: ITEM,
      output_index: 0,
      part: outputText(''),
    },
  ];
}

function textDelta(delta: string, index: number): TypedData {
  return {
    type: 'response.output_text.delta',
    content_index: 0,
    delta,
    item_id: ITEM,
    logprobs: [],
    obfuscation: padding(index),
    output_index: 0,
  };
}

function ending(pieces: readonly string[]): TypedData[] {
  const text = pieces.join('');
  const at = { content_index: 0, item_id: ITEM, output_index: 0 };
  const item = message('completed', [outputText(text)]);
  return [
    { type: 'response.output_text.done', ...at, logprobs: [], text },
    { type: 'response.content_part.done', ...at, part: outputText(text) },
    { type: 'response.output_item.done', item, output_index: 0 },
    {
      type: 'response.completed',
      response: response('completed', { output: [item], usage: usage(pieces.length) }),
    },
  ];
}

function outputText(text: string): object {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

function message(status: string, content: readonly object[]): object {
  return { id: ITEM, type: 'message', status, content, role: 'assistant' };
}

function response(status: string, more: object): object {
  return {
    id: RESPONSE,
    object: 'response',
    created_at: 1_788_205_738,
    status,
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'gpt-4o-mini-2024-07-18',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { context: null, effort: null, summary: null },
    service_tier: 'auto',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
    ...more,
  };
}

function usage(outputTokens: number): object {
  return {
    input_tokens: INPUT_TOKENS,
    input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: INPUT_TOKENS + outputTokens,
  };
}
