import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const streamingDocs = 'https://openrouter.ai/docs/api/reference/streaming';
const errorDocs = 'https://openrouter.ai/docs/api/reference/errors-and-debugging';

const PROCESSING = ': OPENROUTER PROCESSING\n\n';

/** `native` is the finish reason in the words of the provider behind OpenRouter. */
function routed(
  envelope: { readonly id: string; readonly provider: string; readonly model: string },
  delta: object,
  finishReason: string | null = null,
  more: object = {},
) {
  return {
    ...envelope,
    object: 'chat.completion.chunk',
    created: 1_765_226_419,
    choices: [
      {
        index: 0,
        delta: { role: 'assistant', content: '', ...delta },
        finish_reason: finishReason,
        native_finish_reason: finishReason,
        logprobs: null,
      },
    ],
    ...more,
  };
}

const claude = {
  id: 'gen-1765226419-AGrwjunAftQIAgweibL8',
  provider: 'Google',
  model: 'anthropic/claude-sonnet-4.5',
};
const o3 = { id: 'gen-1762141316-q3fB64DDMstJO0ZakdSK', provider: 'OpenAI', model: 'openai/o3' };
const miniMax = {
  id: 'gen-1762179802-UN8pkJI4AGZvryk0kFnb',
  provider: 'Minimax',
  model: 'minimax/minimax-m2:free',
};

/** One thought as OpenRouter sends it: as text, and again as a detail with its index and format. */
function thought(text: string, format: string | null) {
  return { reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, format, index: 0 }] };
}

const said = { reasoning: null, reasoning_details: [] };

const claudeUsage = {
  prompt_tokens: 43,
  completion_tokens: 36,
  total_tokens: 79,
  cost: 0.000669,
  is_byok: false,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0, video_tokens: 0 },
  cost_details: {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: 0.000129,
    upstream_inference_completions_cost: 0.00054,
  },
  completion_tokens_details: { reasoning_tokens: 13, image_tokens: 0 },
};

export const openRouterStreamShapes: ProviderShapes = {
  provider: 'openrouter',
  api: 'chat',
  shapes: [
    {
      name: 'sends comments between the chunks, every thought twice, and the usage with the cost after the end',
      source:
        'https://github.com/pydantic/pydantic-ai/blob/f077d56ce09d88b03c046985161230fad796aa0d/tests/models/cassettes/test_openrouter/test_openrouter_streaming_reasoning.yaml',
      answer: {
        body: [
          PROCESSING,
          PROCESSING,
          events(
            routed(claude, said),
            routed(claude, {
              reasoning: null,
              reasoning_details: [
                {
                  type: 'reasoning.text',
                  text: '',
                  signature: '',
                  format: 'anthropic-claude-v1',
                  index: 0,
                },
              ],
            }),
            routed(claude, thought('This', 'anthropic-claude-v1')),
          ),
          PROCESSING,
          events(
            routed(claude, thought(' is a simple arithmetic question.', 'anthropic-claude-v1')),
            routed(claude, {
              reasoning: null,
              reasoning_details: [
                {
                  type: 'reasoning.text',
                  signature: 'Et0BCkgIChACGAIqQA2s7h7tA7IG35fbwVkou9PM2hANVJNU',
                  format: 'anthropic-claude-v1',
                  index: 0,
                },
              ],
            }),
            routed(claude, { content: '2 ', ...said }),
            routed(claude, { content: '+ 2 = 4', ...said }),
            routed(claude, said, 'stop'),
            routed(claude, {}, null, { usage: claudeUsage }),
            DONE,
          ),
        ],
      },
      expected: {
        text: '2 + 2 = 4',
        reasoning: 'This is a simple arithmetic question.',
        usage: { inputTokens: 43, outputTokens: 36, cachedTokens: 0, reasoningTokens: 13 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends encrypted thoughts, of which nobody can read a word',
      source:
        'https://github.com/pydantic/pydantic-ai/blob/267486352b738e598be3b47e533245cfdd41f6f9/tests/models/cassettes/test_openrouter/test_openrouter_stream_with_reasoning.yaml',
      answer: {
        body: [
          PROCESSING,
          events(
            routed(o3, {}),
            routed(o3, {
              reasoning: null,
              reasoning_details: [
                {
                  type: 'reasoning.encrypted',
                  data: 'gAAAAABpCCSIBxdevbk-8QtJuf4C6mgqDwXaUXZGqXqKQRX62aYMAYCg7DbFt3',
                  id: 'rs_0aa4f2c435e6d1dc0169082486816c8193a029b5fc4ef1764f',
                  format: 'openai-responses-v1',
                  index: 0,
                },
              ],
            }),
            routed(o3, { content: 'I’m' }),
            routed(o3, { content: ' ChatGPT.' }),
            routed(o3, {}, 'stop'),
            DONE,
          ),
        ],
      },
      expected: { text: 'I’m ChatGPT.' },
      sdk: 'agrees',
    },
    {
      name: 'spends its whole token limit on thoughts, and reports that as an error after finish_reason length',
      source:
        'https://github.com/pydantic/pydantic-ai/blob/5039551ad6f598c61893f702583300620184b956/tests/models/cassettes/test_openrouter/test_openrouter_stream_error.yaml',
      answer: {
        body: [
          PROCESSING,
          PROCESSING,
          events(
            routed(miniMax, thought('We need', null)),
            routed(miniMax, thought(' to respond to a greeting.', null), 'length'),
            routed(miniMax, said, 'length'),
            {
              ...routed(miniMax, {}),
              error: { code: 400, message: 'Token limit reached' },
              usage: {
                prompt_tokens: 43,
                completion_tokens: 10,
                total_tokens: 53,
                cost: 0,
                is_byok: false,
                prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
                completion_tokens_details: { reasoning_tokens: 11, image_tokens: 0 },
              },
            },
            DONE,
          ),
        ],
      },
      expected: { failure: /limit|length|nothing|empty/i },
      sdk: 'agrees',
    },
    {
      name: 'breaks off with a rate limit in a chunk whose finish_reason is error',
      source: errorDocs,
      answer: {
        body: [
          events(routed({ ...o3, id: 'gen-abc123' }, { content: 'The first' })),
          'data: {"id":"gen-abc123","object":"chat.completion.chunk","created":1234567890,"model":"openai/gpt-4o","provider":"OpenAI","error":{"code":429,"message":"Rate limit exceeded","metadata":{"error_type":"rate_limit_exceeded"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n',
        ],
      },
      expected: { failure: /rate limit|wait/i, text: 'The first' },
      sdk: 'agrees',
    },
    {
      name: 'breaks off with an error whose code is a word',
      source: streamingDocs,
      answer: {
        body: [
          events(routed({ ...o3, id: 'cmpl-abc123' }, { content: 'The first' })),
          'data: {"id":"cmpl-abc123","object":"chat.completion.chunk","created":1234567890,"model":"openai/gpt-4o","provider":"openai","error":{"code":"server_error","message":"Provider disconnected unexpectedly"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n',
        ],
      },
      expected: { failure: /error|trouble|later|again/i, text: 'The first' },
      sdk: 'agrees',
    },
  ],
};
