import { namedEvents, type ProviderShapes } from '../wire-shape.ts';

const AI_SDK = 'https://github.com/vercel/ai/blob/main/packages/openai/src/responses';
const SDK_TYPES = 'https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The events of a stream, each named by its type. */
function named(...data: readonly Event[]): string {
  return namedEvents(...data);
}

/** The response object around an answer; `more` is merged into it. */
function response(id: string, status: string, more: object): object {
  return {
    id,
    object: 'response',
    created_at: 1788205738,
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

function usage(input: number, cached: number, output: number, reasoning: number): object {
  return {
    usage: {
      input_tokens: input,
      input_tokens_details: { cache_write_tokens: 0, cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

/** The events that open a response, before its first item. */
function opening(id: string, more: object = {}) {
  const begun = response(id, 'in_progress', more);
  return [
    { type: 'response.created', response: begun, sequence_number: 0 },
    { type: 'response.in_progress', response: begun, sequence_number: 1 },
  ];
}

function outputText(text: string): object {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

/** An item of the assistant's, as it stands while it is written and when it is done. */
function message(id: string, status: string, content: readonly object[], more: object = {}): object {
  return { id, type: 'message', status, content, role: 'assistant', ...more };
}

const OK_ID = 'resp_sanitized_streaming';
const OK_ITEM = 'msg_sanitized_streaming';

const REASONING_ID = 'rs_anonymized_reasoning_synth_001';

/** The events of one part of a reasoning summary. */
function summaryPart(index: number, deltas: readonly string[]) {
  const at = { item_id: REASONING_ID, output_index: 0 };
  const text = deltas.join('');
  return [
    {
      type: 'response.reasoning_summary_part.added',
      ...at,
      part: { type: 'summary_text', text: '' },
      summary_index: index,
    },
    ...deltas.map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      delta,
      item_id: REASONING_ID,
      obfuscation: 'XXXXXXX',
      output_index: 0,
      summary_index: index,
    })),
    { type: 'response.reasoning_summary_text.done', ...at, text, summary_index: index },
    {
      type: 'response.reasoning_summary_part.done',
      ...at,
      part: { type: 'summary_text', text },
      summary_index: index,
    },
  ];
}

const TWO_SUMMARIES = [
  { type: 'summary_text', text: '**Summary 0**\n\nFirst.' },
  { type: 'summary_text', text: '**Summary 1**\n\nSecond.' },
];

const RAW_THOUGHTS = {
  id: 'rs_123',
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'The user greets me.' }],
};

const REFUSED = message('msg_123', 'completed', [{ type: 'refusal', refusal: "I can't help with that." }]);

/** One item that says one text, from its opening to its end. */
function textItem(index: number, id: string, deltas: readonly string[], more: object) {
  const at = { item_id: id, output_index: index, content_index: 0 };
  const text = deltas.join('');
  const part = { type: 'output_text', annotations: [], text };
  return [
    { type: 'response.output_item.added', output_index: index, item: message(id, 'in_progress', [], more) },
    { type: 'response.content_part.added', ...at, part: { type: 'output_text', annotations: [], text: '' } },
    ...deltas.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: index, item: message(id, 'completed', [part], more) },
  ];
}

/** What OpenAI says over its Responses API: texts, thoughts, refusals and usage. */
export const openaiResponsesShapes: ProviderShapes = {
  provider: 'openai',
  api: 'responses',
  shapes: [
    {
      name: 'says one text and repeats it in four events',
      source: `${AI_SDK}/__fixtures__/issue-20047-openai-responses.chunks.txt`,
      answer: {
        body: named(
          ...opening(OK_ID),
          {
            type: 'response.output_item.added',
            item: message(OK_ITEM, 'in_progress', []),
            output_index: 0,
            sequence_number: 2,
          },
          {
            type: 'response.content_part.added',
            content_index: 0,
            item_id: OK_ITEM,
            output_index: 0,
            part: outputText(''),
            sequence_number: 3,
          },
          {
            type: 'response.output_text.delta',
            content_index: 0,
            delta: 'OK',
            item_id: OK_ITEM,
            logprobs: [],
            output_index: 0,
            sequence_number: 4,
          },
          {
            type: 'response.output_text.done',
            content_index: 0,
            item_id: OK_ITEM,
            logprobs: [],
            output_index: 0,
            sequence_number: 5,
            text: 'OK',
          },
          {
            type: 'response.content_part.done',
            content_index: 0,
            item_id: OK_ITEM,
            output_index: 0,
            part: outputText('OK'),
            sequence_number: 6,
          },
          {
            type: 'response.output_item.done',
            item: message(OK_ITEM, 'completed', [outputText('OK')]),
            output_index: 0,
            sequence_number: 7,
          },
          {
            type: 'response.completed',
            response: response(OK_ID, 'completed', {
              output: [message(OK_ITEM, 'completed', [outputText('OK')])],
              service_tier: 'default',
              ...usage(12, 0, 2, 0),
            }),
            sequence_number: 8,
          },
        ),
      },
      expected: {
        text: 'OK',
        usage: { inputTokens: 12, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'summarizes its thoughts in two parts and encrypts them anew when they are done',
      source: `${AI_SDK}/__fixtures__/azure-gpt5-reasoning-multi-summary-with-encryption.chunks.txt`,
      answer: {
        body: named(
          ...opening('resp_anonymized_synth_001', { store: false }),
          {
            type: 'response.output_item.added',
            item: {
              id: REASONING_ID,
              type: 'reasoning',
              encrypted_content: 'AZURE_FIXTURE_PARTIAL_AAAA',
              summary: [],
            },
            output_index: 0,
          },
          ...summaryPart(0, ['**Summary 0**\n\n', 'First.']),
          ...summaryPart(1, ['**Summary 1**\n\n', 'Second.']),
          {
            type: 'response.output_item.done',
            item: {
              id: REASONING_ID,
              type: 'reasoning',
              encrypted_content: 'AZURE_FIXTURE_CANONICAL_BBBB',
              summary: TWO_SUMMARIES,
            },
            output_index: 0,
          },
          ...textItem(1, 'msg_anonymized_synth_001', ['Response text.'], {}),
          {
            type: 'response.completed',
            response: response('resp_anonymized_synth_001', 'completed', {
              store: false,
              output: [
                {
                  id: REASONING_ID,
                  type: 'reasoning',
                  encrypted_content: 'AZURE_FIXTURE_CANONICAL_BBBB',
                  summary: TWO_SUMMARIES,
                },
                message('msg_anonymized_synth_001', 'completed', [outputText('Response text.')]),
              ],
              ...usage(100, 0, 500, 300),
            }),
          },
        ),
      },
      expected: {
        text: 'Response text.',
        reasoning: '**Summary 0**\n\nFirst.\n\n**Summary 1**\n\nSecond.',
        usage: { inputTokens: 100, outputTokens: 500, cachedTokens: 0, reasoningTokens: 300 },
      },
      sdk: 'agrees',
    },
    {
      name: 'marks one message as commentary and the next as the final answer',
      source: `${AI_SDK}/__fixtures__/openai-phase.1.chunks.txt`,
      answer: {
        body: named(
          ...opening('resp_phase_001'),
          ...textItem(0, 'msg_phase_commentary', ["I'm going to", ' search for that'], {
            phase: 'commentary',
          }),
          ...textItem(1, 'msg_phase_final', ['The capital', ' of France is Paris.'], {
            phase: 'final_answer',
          }),
          {
            type: 'response.completed',
            sequence_number: 16,
            response: {
              id: 'resp_phase_001',
              object: 'response',
              created_at: 1764962401,
              status: 'completed',
              model: 'gpt-5.3-codex',
              output: [
                message('msg_phase_commentary', 'completed', [outputText("I'm going to search for that")], {
                  phase: 'commentary',
                }),
                message('msg_phase_final', 'completed', [outputText('The capital of France is Paris.')], {
                  phase: 'final_answer',
                }),
              ],
              service_tier: 'default',
              usage: {
                input_tokens: 50,
                input_tokens_details: { cached_tokens: 0 },
                output_tokens: 100,
                output_tokens_details: { reasoning_tokens: 20 },
              },
            },
          },
        ),
      },
      expected: {
        text: "I'm going to search for that\n\nThe capital of France is Paris.",
        usage: { inputTokens: 50, outputTokens: 100, cachedTokens: 0, reasoningTokens: 20 },
      },
      sdk: { differs: 'It joins the two messages without a blank line.' },
    },
    {
      name: 'refuses in deltas and a content part of their own',
      source: SDK_TYPES,
      answer: {
        body: named(
          ...opening('resp_123'),
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: message('msg_123', 'in_progress', []),
          },
          {
            type: 'response.content_part.added',
            item_id: 'msg_123',
            output_index: 0,
            content_index: 0,
            part: { type: 'refusal', refusal: '' },
          },
          ...["I can't", ' help with that.'].map((delta) => ({
            type: 'response.refusal.delta',
            item_id: 'msg_123',
            output_index: 0,
            content_index: 0,
            delta,
          })),
          {
            type: 'response.refusal.done',
            item_id: 'msg_123',
            output_index: 0,
            content_index: 0,
            refusal: "I can't help with that.",
          },
          { type: 'response.output_item.done', output_index: 0, item: REFUSED },
          {
            type: 'response.completed',
            response: response('resp_123', 'completed', { output: [REFUSED], ...usage(59, 0, 13, 0) }),
          },
        ),
      },
      expected: {
        text: "I can't help with that.",
        usage: { inputTokens: 59, outputTokens: 13, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'shows its raw thoughts as reasoning text',
      source: SDK_TYPES,
      answer: {
        body: named(
          ...opening('resp_123'),
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: { id: 'rs_123', type: 'reasoning', summary: [], content: [] },
          },
          {
            type: 'response.content_part.added',
            item_id: 'rs_123',
            output_index: 0,
            content_index: 0,
            part: { type: 'reasoning_text', text: '' },
          },
          ...['The user', ' greets me.'].map((delta) => ({
            type: 'response.reasoning_text.delta',
            item_id: 'rs_123',
            output_index: 0,
            content_index: 0,
            delta,
          })),
          {
            type: 'response.reasoning_text.done',
            item_id: 'rs_123',
            output_index: 0,
            content_index: 0,
            text: 'The user greets me.',
          },
          { type: 'response.output_item.done', output_index: 0, item: RAW_THOUGHTS },
          ...textItem(1, 'msg_123', ['Hello!'], {}),
          {
            type: 'response.completed',
            response: response('resp_123', 'completed', {
              output: [RAW_THOUGHTS, message('msg_123', 'completed', [outputText('Hello!')])],
              ...usage(9, 0, 12, 7),
            }),
          },
        ),
      },
      expected: {
        text: 'Hello!',
        reasoning: 'The user greets me.',
        usage: { inputTokens: 9, outputTokens: 12, cachedTokens: 0, reasoningTokens: 7 },
      },
      sdk: 'agrees',
    },
  ],
};
