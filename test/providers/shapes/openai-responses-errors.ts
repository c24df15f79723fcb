import { events, namedEvents, type ProviderShapes } from '../wire-shape.ts';

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

/** A response object of gpt-5-nano in 2025. */
function response(id: string, status: string, more: object = {}): object {
  return {
    id,
    object: 'response',
    created_at: 1763474589,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: 'gpt-5-nano-2025-08-07',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: { effort: 'medium', summary: null },
    safety_identifier: null,
    service_tier: 'auto',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
    ...more,
  };
}

const ID = 'resp_05500b38c2cd9bfc00691c7c9d222481a3b595421266dab424';

function opening(id: string) {
  return [
    { type: 'response.created', sequence_number: 0, response: response(id, 'in_progress') },
    { type: 'response.in_progress', sequence_number: 1, response: response(id, 'in_progress') },
  ];
}

const MESSAGE = 'msg_67c9a81dea8c8190b79651a2b3adf91e';

/** The events of a text that has begun and is not ended. */
function begunText(delta: string) {
  return [
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { id: MESSAGE, type: 'message', status: 'in_progress', role: 'assistant', content: [] },
    },
    {
      type: 'response.content_part.added',
      item_id: MESSAGE,
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    { type: 'response.output_text.delta', item_id: MESSAGE, output_index: 0, content_index: 0, delta },
  ];
}

const CUT_MESSAGE = {
  id: MESSAGE,
  type: 'message',
  status: 'incomplete',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hello,', annotations: [] }],
};

const NO_TOKENS = {
  usage: {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  },
};

const QUOTA =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.';

/** How OpenAI ends a response over its Responses API before it is complete. */
export const openaiResponsesErrorsShapes: ProviderShapes = {
  provider: 'openai',
  api: 'responses',
  shapes: [
    {
      name: 'is cut by max_output_tokens and ends the text with another text than it streamed',
      source: `${AI_SDK}/openai-responses-language-model.test.ts`,
      answer: {
        body: events(
          ...opening(ID),
          ...begunText('Hello,'),
          {
            type: 'response.output_text.done',
            item_id: MESSAGE,
            output_index: 0,
            content_index: 0,
            text: 'Hello,!',
          },
          { type: 'response.output_item.done', output_index: 0, item: CUT_MESSAGE },
          {
            type: 'response.incomplete',
            response: response(ID, 'incomplete', {
              incomplete_details: { reason: 'max_output_tokens' },
              max_output_tokens: 100,
              output: [CUT_MESSAGE],
              ...NO_TOKENS,
            }),
          },
        ),
      },
      expected: {
        text: 'Hello,',
        finishReason: 'length',
        usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'is cut by max_output_tokens before it says anything',
      source: SDK_TYPES,
      answer: {
        body: named(
          ...opening(ID),
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: { id: 'rs_123', type: 'reasoning', summary: [] },
          },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: { id: 'rs_123', type: 'reasoning', summary: [] },
          },
          {
            type: 'response.incomplete',
            response: response(ID, 'incomplete', {
              incomplete_details: { reason: 'max_output_tokens' },
              max_output_tokens: 100,
              output: [{ id: 'rs_123', type: 'reasoning', summary: [] }],
            }),
          },
        ),
      },
      expected: { failure: /limit|length|token|empty|nothing/i },
      sdk: { differs: 'It ends normally, with a reply that says nothing.' },
    },
    {
      name: 'is stopped by the content filter in the middle of a text',
      source: SDK_TYPES,
      answer: {
        body: named(...opening(ID), ...begunText('Hello,'), {
          type: 'response.incomplete',
          response: response(ID, 'incomplete', {
            incomplete_details: { reason: 'content_filter' },
            output: [CUT_MESSAGE],
          }),
        }),
      },
      expected: { failure: /filter|safety|refus/i, text: 'Hello,' },
      sdk: 'agrees',
    },
    {
      name: 'fails with nothing but response.failed',
      source: `${AI_SDK}/__fixtures__/openai-response-failed-only.1.chunks.txt`,
      answer: {
        body: named(
          {
            type: 'response.created',
            sequence_number: 0,
            response: response('resp_test_failed_001', 'in_progress'),
          },
          {
            type: 'response.failed',
            sequence_number: 1,
            response: response('resp_test_failed_001', 'failed', {
              error: {
                code: 'rate_limit_exceeded',
                message:
                  'Request too large for gpt-4o-mini in organization on tokens per min (TPM): Limit 30000, Requested 35364.',
              },
            }),
          },
        ),
      },
      expected: { failure: /more tokens than OpenAI allows .* a minute/ },
      sdk: 'agrees',
    },
    {
      name: 'fails twice: with a nested error and with response.failed',
      source: `${AI_SDK}/__fixtures__/openai-error.1.chunks.txt`,
      answer: {
        body: named(
          ...opening(ID),
          {
            type: 'error',
            sequence_number: 2,
            error: { type: 'insufficient_quota', code: 'insufficient_quota', message: QUOTA, param: null },
          },
          {
            type: 'response.failed',
            sequence_number: 3,
            response: response(ID, 'failed', { error: { code: 'insufficient_quota', message: QUOTA } }),
          },
        ),
      },
      expected: { failure: /quota|credit|billing/i },
      sdk: 'agrees',
    },
    {
      name: 'fails with a nested error whose code is null',
      source: `${AI_SDK}/__fixtures__/openai-error-null-code.1.chunks.txt`,
      answer: {
        body: named({
          type: 'error',
          error: { type: 'server_error', code: null, message: 'Sorry, something went wrong.', param: null },
          sequence_number: 2,
        }),
      },
      expected: { failure: /overloaded|trouble|later/i },
      sdk: 'agrees',
    },
    {
      name: 'fails with a flat error, as its documentation has it',
      source: SDK_TYPES,
      answer: {
        body: named(...opening(ID), {
          type: 'error',
          code: 'server_error',
          message: 'The server had an error while processing your request.',
          param: null,
          sequence_number: 2,
        }),
      },
      expected: { failure: /overloaded|trouble|later/i },
      sdk: 'agrees',
    },
    {
      name: 'finds the input too long only when it streams',
      source: 'https://github.com/dyad-sh/dyad/issues/1672',
      answer: {
        body: named(...opening(ID), {
          type: 'error',
          sequence_number: 2,
          error: {
            type: 'invalid_request_error',
            code: 'context_length_exceeded',
            message:
              'Your input exceeds the context window of this model. Please adjust your input and try again.',
            param: 'input',
          },
        }),
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'is overloaded, in a failed response without an id',
      source: 'https://github.com/Wei-Shaw/sub2api/issues/5909',
      answer: {
        body: named({
          type: 'response.failed',
          response: {
            status: 'failed',
            output: [],
            model: 'gpt-5.6-sol',
            error: {
              code: 'server_is_overloaded',
              message: 'Our servers are currently overloaded. Please try again later.',
            },
          },
        }),
      },
      expected: { failure: /overloaded|trouble|later/i },
      sdk: 'agrees',
    },
    {
      name: 'closes the stream before response.completed',
      source: 'https://github.com/openai/codex/issues/45412',
      answer: { body: named(...opening(ID), ...begunText('Hello,')) },
      expected: { failure: /complete|ended|closed/i, text: 'Hello,' },
      sdk: 'agrees',
    },
    {
      name: 'refuses thoughts that it cannot decrypt',
      source: 'https://github.com/openai/codex/issues/8145',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message: 'The encrypted content gAAA...DQ== could not be verified.',
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_encrypted_content',
          },
        }),
      },
      expected: { failure: /encrypted|reasoning|thought/i },
    },
  ],
};
