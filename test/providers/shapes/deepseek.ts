import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const envelope = {
  id: '6e77be01-935b-42f6-8b05-d6c763528589',
  object: 'chat.completion.chunk',
  created: 1_786_782_779,
  model: 'deepseek-v4-flash',
  system_fingerprint: 'a26a7955944dc5c60445bff77fac9c8e',
};

/** DeepSeek writes `usage: null` until the last chunk. */
function deepSeekChunk(delta: object, finishReason: string | null = null, usage: object | null = null) {
  return {
    ...envelope,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage,
  };
}

const usage = {
  prompt_tokens: 374,
  completion_tokens: 61,
  total_tokens: 435,
  prompt_tokens_details: { cached_tokens: 256 },
  completion_tokens_details: { reasoning_tokens: 17 },
  prompt_cache_hit_tokens: 256,
  prompt_cache_miss_tokens: 118,
};

const readUsage = { inputTokens: 374, outputTokens: 61, cachedTokens: 256, reasoningTokens: 17 };

const toolCallRecording =
  'https://github.com/vercel/ai/blob/203e2872b831d00e9711bd0bc1f9c0e1a4753ae6/packages/deepseek/src/chat/__fixtures__/deepseek-tool-call.chunks.txt';

export const deepSeekShapes: ProviderShapes = {
  provider: 'deepseek',
  api: 'chat',
  shapes: [
    {
      name: 'thinks in reasoning_content with a null content, then calls a tool',
      source: toolCallRecording,
      answer: {
        body: events(
          deepSeekChunk({ role: 'assistant', content: null, reasoning_content: '' }),
          deepSeekChunk({ content: null, reasoning_content: 'The user asks' }),
          deepSeekChunk({ content: null, reasoning_content: ' about the weather.' }),
          deepSeekChunk({
            tool_calls: [
              {
                index: 0,
                id: 'call_00_IhCAliIHtM9gKpgfqbBV9873',
                type: 'function',
                function: { name: 'weather', arguments: '' },
              },
            ],
          }),
          deepSeekChunk({ tool_calls: [{ index: 0, function: { arguments: '{"location": ' } }] }),
          deepSeekChunk({ tool_calls: [{ index: 0, function: { arguments: '"San Francisco"}' } }] }),
          deepSeekChunk({ content: '', reasoning_content: null }, 'tool_calls', usage),
          DONE,
        ),
      },
      expected: {
        text: '',
        reasoning: 'The user asks about the weather.',
        toolCalls: [{ name: 'weather', arguments: { location: 'San Francisco' } }],
        usage: readUsage,
      },
      sdk: 'agrees',
    },
    {
      name: 'sends usage null in every chunk but the last',
      source: toolCallRecording,
      answer: {
        body: events(
          deepSeekChunk({ role: 'assistant', content: '' }),
          deepSeekChunk({ content: 'Hello' }),
          deepSeekChunk({ content: '!' }),
          deepSeekChunk({ content: '' }, 'stop', usage),
          DONE,
        ),
      },
      expected: { text: 'Hello!', usage: readUsage },
      sdk: 'agrees',
    },
    {
      name: 'sends keep-alive comments while it waits for a free machine',
      source: 'https://api-docs.deepseek.com/quick_start/rate_limit',
      answer: {
        body: [
          ': keep-alive\n\n',
          ': keep-alive\n\n',
          events(deepSeekChunk({ role: 'assistant', content: '' })),
          ': keep-alive\n\n',
          events(deepSeekChunk({ content: 'Hello!' }), deepSeekChunk({ content: '' }, 'stop', usage), DONE),
        ],
      },
      expected: { text: 'Hello!', usage: readUsage },
      sdk: 'agrees',
    },
    {
      name: 'sends empty lines before an answer that is not streamed',
      source: 'https://api-docs.deepseek.com/quick_start/rate_limit',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: [
          '\n',
          '\n\n',
          JSON.stringify({
            id: '6e77be01-935b-42f6-8b05-d6c763528589',
            object: 'chat.completion',
            created: 1_786_782_779,
            model: 'deepseek-v4-flash',
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: 'Hello!' },
                logprobs: null,
                finish_reason: 'stop',
              },
            ],
            usage,
            system_fingerprint: 'a26a7955944dc5c60445bff77fac9c8e',
          }),
        ],
      },
      expected: { text: 'Hello!', usage: readUsage },
      sdk: { differs: 'It looks for events only and finds none.' },
    },
    {
      name: 'breaks off with finish_reason insufficient_system_resource',
      source:
        'https://github.com/vercel/ai/blob/c312c18e3547215af3c2d02e464b1f640f1015e6/packages/deepseek/src/chat/map-deepseek-finish-reason.ts',
      answer: {
        body: events(
          deepSeekChunk({ role: 'assistant', content: '' }),
          deepSeekChunk({ content: 'The answer' }),
          deepSeekChunk({ content: '' }, 'insufficient_system_resource', usage),
          DONE,
        ),
      },
      expected: { failure: /insufficient_system_resource|overloaded|later/i, text: 'The answer' },
      sdk: { differs: 'It takes every finish_reason for an end.' },
    },
    {
      name: 'answers 402 Insufficient Balance, with a type unknown_error and a code that names another error',
      source: 'https://github.com/666ghj/BettaFish/issues/286',
      answer: {
        status: 402,
        body: JSON.stringify({
          error: {
            message: 'Insufficient Balance',
            type: 'unknown_error',
            param: null,
            code: 'invalid_request_error',
          },
        }),
      },
      expected: { failure: /quota|credit|billing|balance/i },
    },
    {
      name: 'says in the message alone that the conversation is too long',
      source: 'https://github.com/evalstate/fast-agent/issues/621',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_request_error',
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'sends a JSON error as application/octet-stream',
      source: 'https://github.com/SaladDay/cc-switch-cli/issues/170',
      answer: {
        status: 400,
        headers: { 'content-type': 'application/octet-stream' },
        body: JSON.stringify({
          error: {
            message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_request_error',
          },
        }),
      },
      expected: { failure: /reasoning|refused/i },
    },
  ],
};
