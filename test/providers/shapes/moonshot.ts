import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const envelope = {
  id: 'chatcmpl-6a8de8b0aa0c275363b2fc8a',
  object: 'chat.completion.chunk',
  created: 1_787_685_040,
  model: 'kimi-k2.5',
};

/** `more` stands inside the choice, where Moonshot puts the usage. */
function kimiChunk(delta: object, finishReason: string | null = null, more: object = {}) {
  return {
    ...envelope,
    choices: [{ index: 0, delta, finish_reason: finishReason, ...more }],
    system_fingerprint: 'fpv0_1c3effa9',
  };
}

const opening = kimiChunk({ role: 'assistant', content: '' });

const cachedUsage = {
  prompt_tokens: 90,
  completion_tokens: 50,
  total_tokens: 140,
  cached_tokens: 90,
  completion_tokens_details: { reasoning_tokens: 33 },
  prompt_tokens_details: { cached_tokens: 90 },
};

const callUsage = { prompt_tokens: 61, completion_tokens: 25, total_tokens: 86 };

/** Kimi of Moonshot AI, as an OpenAI-compatible server. */
export const moonshotShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'puts the usage inside the last choice and nowhere else',
      source:
        'https://github.com/vercel/ai/blob/d6bd5765a1cc1cefa5f337055cf55aacb973b78a/packages/moonshotai/src/__fixtures__/moonshotai-stream-choice-usage.chunks.txt',
      answer: {
        body: events(
          opening,
          kimiChunk({ reasoning_content: '' }),
          kimiChunk({ content: 'OK' }),
          kimiChunk({ content: '.' }),
          kimiChunk({}, 'stop', {
            usage: {
              prompt_tokens: 12,
              completion_tokens: 5,
              total_tokens: 17,
              completion_tokens_details: { reasoning_tokens: 1 },
            },
          }),
          DONE,
        ),
      },
      expected: { text: 'OK.', usage: { inputTokens: 12, outputTokens: 5, reasoningTokens: 1 } },
      sdk: 'agrees',
    },
    {
      name: 'says the usage twice, inside the last choice and in a chunk of its own',
      source:
        'https://github.com/vercel/ai/blob/db416979d1b706bd6847cabc0c2ba3b9c6417d00/packages/moonshotai/src/__fixtures__/moonshotai-usage-live.chunks.txt',
      answer: {
        body: events(
          opening,
          kimiChunk({ reasoning_content: 'The' }),
          kimiChunk({ reasoning_content: ' user is asking' }),
          kimiChunk({ reasoning_content: '' }),
          kimiChunk({ content: 'OK' }),
          kimiChunk({}, 'stop', { usage: cachedUsage }),
          { ...envelope, choices: [], usage: cachedUsage },
          DONE,
        ),
      },
      expected: {
        text: 'OK',
        reasoning: 'The user is asking',
        usage: { inputTokens: 90, outputTokens: 50, cachedTokens: 90, reasoningTokens: 33 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends two tool calls without an index, whose arguments follow in the same order',
      source:
        'https://github.com/vercel/ai/blob/702aba717bc52024ba911b2071fe4b11a5f08795/packages/moonshotai/src/__fixtures__/moonshotai-stream-indexless-tool-calls.chunks.txt',
      answer: {
        body: events(
          opening,
          kimiChunk({
            tool_calls: [
              { id: 'weather_0', type: 'function', function: { name: 'weather', arguments: '' } },
              { id: 'time_1', type: 'function', function: { name: 'time', arguments: '' } },
            ],
          }),
          kimiChunk({
            tool_calls: [
              { function: { arguments: '{"location":"San Francisco"}' } },
              { function: { arguments: '{"zone":"UTC"}' } },
            ],
          }),
          kimiChunk({}, 'tool_calls', { usage: callUsage }),
          { ...envelope, choices: [], usage: callUsage },
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'weather', arguments: { location: 'San Francisco' } },
          { name: 'time', arguments: { zone: 'UTC' } },
        ],
        usage: { inputTokens: 61, outputTokens: 25 },
      },
      sdk: { differs: 'It wants an index for every tool call.' },
    },
    {
      name: 'names a tool call functions.get_weather:0',
      source: 'https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md',
      answer: {
        body: events(
          opening,
          kimiChunk({
            tool_calls: [
              {
                index: 0,
                id: 'functions.get_weather:0',
                type: 'function',
                function: { name: 'get_weather', arguments: '' },
              },
            ],
          }),
          kimiChunk({ tool_calls: [{ index: 0, function: { arguments: '{"city": "Beijing"}' } }] }),
          kimiChunk({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Beijing' } }] },
      sdk: 'agrees',
    },
    {
      name: 'sends the last arguments and the finish_reason in one chunk',
      source:
        'https://github.com/vercel/ai/blob/b3bd6ff367c8c5505ab49804ef2bcf01ecfead7d/packages/moonshotai/src/__fixtures__/moonshotai-tool-call.chunks.txt',
      answer: {
        body: events(
          {
            id: 'chatcmpl-stream-tool',
            object: 'chat.completion.chunk',
            created: 1_785_880_004,
            model: 'kimi-k3',
            choices: [
              {
                index: 0,
                delta: {
                  role: 'assistant',
                  tool_calls: [
                    {
                      index: 0,
                      id: 'call_abc123',
                      type: 'function',
                      function: { name: 'get_weather', arguments: '' },
                    },
                  ],
                },
                finish_reason: null,
              },
            ],
          },
          {
            id: 'chatcmpl-stream-tool',
            object: 'chat.completion.chunk',
            created: 1_785_880_004,
            model: 'kimi-k3',
            choices: [
              {
                index: 0,
                delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] },
                finish_reason: 'tool_calls',
              },
            ],
            usage: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 },
          },
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }],
        usage: { inputTokens: 30, outputTokens: 12 },
      },
      sdk: 'agrees',
    },
    {
      name: 'reports an error in the middle of the stream',
      source:
        'https://github.com/vercel/ai/blob/a9279fc98784932aa09a52b63092904f5eeaa753/packages/moonshotai/src/__fixtures__/moonshotai-stream-error.chunks.txt',
      answer: {
        body: events(
          {
            id: 'chatcmpl-stream-error',
            object: 'chat.completion.chunk',
            created: 1_785_880_003,
            model: 'kimi-k3',
            choices: [{ index: 0, delta: { role: 'assistant', content: 'Partial' }, finish_reason: null }],
          },
          { error: { message: 'Stream failed', type: 'server_error', code: 'stream_failure' } },
        ),
      },
      expected: { failure: /stream_failure|error|trouble|later/i, text: 'Partial' },
      sdk: 'agrees',
    },
    {
      name: 'reports an error that is nothing but a message',
      source:
        'https://github.com/vercel/ai/blob/3073b4c14c2f6ce147bf7ddb4442da70987c68c4/packages/moonshotai/src/__fixtures__/moonshotai-error-metadata.chunks.txt',
      answer: { body: events({ error: { message: 'Message-only stream failure' } }) },
      expected: { failure: /error|trouble|later|again/i },
      sdk: 'agrees',
    },
    {
      name: 'answers an unknown model with 404 and an error without a code',
      source:
        'https://github.com/vercel/ai/blob/3073b4c14c2f6ce147bf7ddb4442da70987c68c4/packages/moonshotai/src/__fixtures__/moonshotai-error-live-message-only.json',
      answer: {
        status: 404,
        body: JSON.stringify({
          error: {
            message: 'Not found the model issue-19552-invalid-model or Permission denied',
            type: 'resource_not_found_error',
          },
        }),
      },
      expected: { failure: /model/i },
    },
    {
      name: 'answers 403 where the quota is used up',
      source: 'https://github.com/MoonshotAI/Kimi-K2/issues/5',
      answer: {
        status: 403,
        body: JSON.stringify({
          error: {
            message:
              'Your account xx is not active, organization xx exceeded current quota, please check your plan and billing details',
            type: 'exceeded_current_quota_error',
          },
        }),
      },
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'says in the message alone that the conversation is too long',
      source: 'https://github.com/MoonshotAI/kimi-cli/issues/2011',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)',
            type: 'invalid_request_error',
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      // The report quotes the body alone; its status is the one for too many requests.
      name: 'says with engine_overloaded_error that it has too much to do',
      source: 'https://github.com/MoonshotAI/MoonshotAI-Cookbook/issues/16',
      answer: {
        status: 429,
        body: JSON.stringify({
          error: {
            message: 'The engine is currently overloaded, please try again later',
            type: 'engine_overloaded_error',
          },
        }),
      },
      expected: { failure: /overloaded|trouble|later|wait/i },
    },
  ],
};
