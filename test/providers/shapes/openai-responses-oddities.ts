import { namedEvents, type ProviderShapes } from '../wire-shape.ts';

const AI_SDK = 'https://github.com/vercel/ai/blob/main/packages/openai/src/responses';
const AI_SDK_TEST = `${AI_SDK}/openai-responses-language-model.test.ts`;
const SDK_TYPES = 'https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The events of a stream, each named by its type. */
function named(...data: readonly Event[]): string {
  return namedEvents(...data);
}

/** A response object of gpt-4o in March 2025, before events were numbered. */
function gpt4o(id: string, status: string, more: object): object {
  return {
    id,
    object: 'response',
    created_at: 1741362087,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'gpt-4o-2024-07-18',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 0,
    text: { format: { type: 'text' } },
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

const HELLO_ID = 'resp_67c9a81b6a048190a9ee441c5755a4e8';
const HELLO_ITEM = 'msg_67c9a81dea8c8190b79651a2b3adf91e';
const HELLO_ITEM_DONE = 'msg_67c9a8787f4c8190b49c858d4c1cf20c';

function hello(status: string, id: string): object {
  return {
    id,
    type: 'message',
    status,
    role: 'assistant',
    content:
      status === 'in_progress' ? [] : [{ type: 'output_text', text: 'Hello, World!', annotations: [] }],
  };
}

/** Ids that change, sums that are wrong and events besides the answer, over OpenAI's Responses API. */
export const openaiResponsesOdditiesShapes: ProviderShapes = {
  provider: 'openai',
  api: 'responses',
  shapes: [
    {
      name: 'ends an item under another id, leaves out the blank after data: and adds up its usage wrongly',
      source: AI_SDK_TEST,
      answer: {
        body: [
          { type: 'response.created', response: gpt4o(HELLO_ID, 'in_progress', { input: [] }) },
          { type: 'response.output_item.added', output_index: 0, item: hello('in_progress', HELLO_ITEM) },
          {
            type: 'response.content_part.added',
            item_id: HELLO_ITEM,
            output_index: 0,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          {
            type: 'response.output_text.delta',
            item_id: HELLO_ITEM,
            output_index: 0,
            content_index: 0,
            delta: 'Hello,',
          },
          {
            type: 'response.output_text.delta',
            item_id: HELLO_ITEM,
            output_index: 0,
            content_index: 0,
            delta: ' World!',
          },
          {
            type: 'response.output_text.done',
            item_id: HELLO_ITEM_DONE,
            output_index: 0,
            content_index: 0,
            text: 'Hello, World!',
          },
          { type: 'response.output_item.done', output_index: 0, item: hello('completed', HELLO_ITEM_DONE) },
          {
            type: 'response.completed',
            response: gpt4o('resp_67c9a878139c8190aa2e3105411b408b', 'completed', {
              input: [],
              output: [hello('completed', HELLO_ITEM_DONE)],
              usage: {
                input_tokens: 543,
                input_tokens_details: { cached_tokens: 234 },
                output_tokens: 478,
                output_tokens_details: { reasoning_tokens: 123 },
                total_tokens: 512,
              },
            }),
          },
        ].map((event) => `data:${JSON.stringify(event)}\n\n`),
      },
      expected: {
        text: 'Hello, World!',
        usage: { inputTokens: 543, outputTokens: 478, cachedTokens: 234, reasoningTokens: 123 },
      },
      sdk: 'agrees',
    },
    {
      name: 'gives every event another item id behind a gateway, and null for the encrypted thoughts',
      source: `${AI_SDK}/__fixtures__/github-copilot-id-rotation.1.chunks.txt`,
      answer: {
        body: named(
          {
            response: {
              created_at: 1786050349,
              error: null,
              id: 'capture-id-1',
              incomplete_details: null,
              model: 'gpt-5.3-codex',
              object: 'response',
              output: [],
              status: 'in_progress',
              store: false,
              usage: null,
            },
            sequence_number: 0,
            type: 'response.created',
          },
          {
            item: {
              content: [],
              encrypted_content: null,
              id: 'capture-id-3',
              summary: [],
              type: 'reasoning',
            },
            output_index: 0,
            sequence_number: 2,
            type: 'response.output_item.added',
          },
          {
            item_id: 'capture-id-4',
            output_index: 0,
            part: { text: '', type: 'summary_text' },
            sequence_number: 3,
            summary_index: 0,
            type: 'response.reasoning_summary_part.added',
          },
          {
            delta: '**Counting character occurrences**',
            item_id: 'capture-id-5',
            output_index: 0,
            sequence_number: 4,
            summary_index: 0,
            type: 'response.reasoning_summary_text.delta',
          },
          {
            item: {
              content: [],
              encrypted_content: null,
              id: 'capture-id-8',
              summary: [{ text: '**Counting character occurrences**', type: 'summary_text' }],
              type: 'reasoning',
            },
            output_index: 0,
            sequence_number: 7,
            type: 'response.output_item.done',
          },
          {
            item: {
              content: [],
              id: 'capture-id-9',
              phase: 'final_answer',
              role: 'assistant',
              status: 'in_progress',
              type: 'message',
            },
            output_index: 1,
            sequence_number: 8,
            type: 'response.output_item.added',
          },
          {
            content_index: 0,
            item_id: 'capture-id-10',
            output_index: 1,
            part: { annotations: [], logprobs: [], text: '', type: 'output_text' },
            sequence_number: 9,
            type: 'response.content_part.added',
          },
          ...['There', ' are', ' **', '3', '**'].map((delta, place) => ({
            content_index: 0,
            delta,
            item_id: `capture-id-${11 + place}`,
            logprobs: [],
            output_index: 1,
            sequence_number: 10 + place,
            type: 'response.output_text.delta',
          })),
          {
            copilot_usage: { token_details: [], total_nano_aiu: 150325000 },
            response: {
              created_at: 1786050349,
              error: null,
              id: 'capture-id-69',
              incomplete_details: null,
              model: 'gpt-5.3-codex',
              object: 'response',
              output: [],
              status: 'completed',
              store: false,
              usage: {
                input_tokens: 19,
                input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
                output_tokens: 105,
                output_tokens_details: { reasoning_tokens: 44 },
                total_tokens: 124,
              },
            },
            sequence_number: 68,
            type: 'response.completed',
          },
        ),
      },
      expected: {
        text: 'There are **3**',
        reasoning: '**Counting character occurrences**',
        usage: { inputTokens: 19, outputTokens: 105, cachedTokens: 0, reasoningTokens: 44 },
      },
      sdk: 'agrees',
    },
    {
      name: 'waits in a queue, cites a page and leaves its output empty in the end',
      source: SDK_TYPES,
      answer: {
        body: named(
          { type: 'response.created', sequence_number: 0, response: gpt4o('resp_123', 'queued', {}) },
          { type: 'response.queued', sequence_number: 1, response: gpt4o('resp_123', 'queued', {}) },
          {
            type: 'response.in_progress',
            sequence_number: 2,
            response: gpt4o('resp_123', 'in_progress', {}),
          },
          {
            type: 'response.output_item.added',
            sequence_number: 3,
            output_index: 0,
            item: { id: 'msg_123', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
          },
          {
            type: 'response.content_part.added',
            sequence_number: 4,
            item_id: 'msg_123',
            output_index: 0,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          {
            type: 'response.output_text.delta',
            sequence_number: 5,
            item_id: 'msg_123',
            output_index: 0,
            content_index: 0,
            delta: 'See the page.',
          },
          {
            type: 'response.output_text.annotation.added',
            sequence_number: 6,
            item_id: 'msg_123',
            output_index: 0,
            content_index: 0,
            annotation_index: 0,
            annotation: {
              type: 'url_citation',
              start_index: 0,
              end_index: 3,
              url: 'https://example.com',
              title: 'Example',
            },
          },
          {
            type: 'response.output_item.done',
            sequence_number: 7,
            output_index: 0,
            item: {
              id: 'msg_123',
              type: 'message',
              status: 'completed',
              role: 'assistant',
              content: [{ type: 'output_text', text: 'See the page.', annotations: [] }],
            },
          },
          {
            type: 'response.completed',
            sequence_number: 8,
            response: gpt4o('resp_123', 'completed', {}),
          },
        ),
      },
      expected: { text: 'See the page.' },
      sdk: 'agrees',
    },
  ],
};
