import { DONE, events, type ProviderShapes, type WireAnswer } from '../wire-shape.ts';

const AI_SDK = 'https://github.com/vercel/ai/blob/main/packages/xai/src';
const AI_SDK_TEST = `${AI_SDK}/xai-chat-language-model.test.ts`;

/** A chunk of grok-3-mini, which has no finish_reason before the last choice. */
function grok3(id: string, choices: readonly object[], more: object = {}): object {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1770774058,
    model: 'grok-3-mini',
    choices,
    ...more,
    system_fingerprint: 'fp_2a885414fb',
  };
}

function delta(one: object): readonly object[] {
  return [{ index: 0, delta: one }];
}

function usage(prompt: number, cached: number, completion: number, reasoning: number, total: number): object {
  return {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: total,
      prompt_tokens_details: { text_tokens: prompt, audio_tokens: 0, image_tokens: 0, cached_tokens: cached },
      completion_tokens_details: {
        reasoning_tokens: reasoning,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
      num_sources_used: 0,
      cost_in_usd_ticks: 1466250,
    },
  };
}

/** A chunk of 2025. */
function grok2025(
  id: string,
  model: string,
  one: object,
  finishReason: string | null = null,
  more: object = {},
): object {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1750538120,
    model,
    choices: [{ index: 0, delta: one, finish_reason: finishReason }],
    ...more,
    system_fingerprint: 'fp_reasoning_v1',
  };
}

const INCLUDED_USAGE = {
  usage: {
    prompt_tokens: 15,
    total_tokens: 35,
    completion_tokens: 20,
    completion_tokens_details: { reasoning_tokens: 10 },
  },
};

/** xAI's error body: both fields are texts. */
function refused(status: number, code: string, error: string): WireAnswer {
  return { status, body: JSON.stringify({ code, error }) };
}

const HELLO = '7327b9f5-1c2f-0a15-3fef-c14a71c460d3';
const WEATHER = 'de9d896d-e946-b3a7-bb14-75ab33326930';
const COUNTED = 'b7f32e89-8d6c-4a1e-9f5b-2c8e7a9d4f6b';

/** What xAI says over chat completions. */
export const xaiShapes: ProviderShapes = {
  provider: 'xai',
  api: 'chat',
  shapes: [
    {
      name: 'thinks in reasoning_content and leaves the thoughts out of completion_tokens',
      source: `${AI_SDK}/__fixtures__/xai-text.chunks.txt`,
      answer: {
        body: events(
          grok3(HELLO, delta({ reasoning_content: 'First', role: 'assistant' })),
          grok3(HELLO, delta({ reasoning_content: ',' })),
          grok3(HELLO, delta({ reasoning_content: ' the user said' })),
          grok3(HELLO, delta({ content: 'Hello' })),
          grok3(HELLO, [{ index: 0, delta: {}, finish_reason: 'stop' }]),
          grok3(HELLO, [], usage(12, 11, 1, 290, 303)),
          DONE,
        ),
      },
      expected: {
        text: 'Hello',
        reasoning: 'First, the user said',
        usage: { inputTokens: 12, outputTokens: 291, cachedTokens: 11, reasoningTokens: 290 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends a whole call in one chunk after its thoughts',
      source: `${AI_SDK}/__fixtures__/xai-tool-call.chunks.txt`,
      answer: {
        body: events(
          grok3(WEATHER, delta({ reasoning_content: 'First', role: 'assistant' })),
          grok3(WEATHER, delta({ reasoning_content: ', the user is' })),
          grok3(
            WEATHER,
            delta({
              tool_calls: [
                {
                  id: 'call_55117580',
                  function: { name: 'weather', arguments: '{"location":"San Francisco"}' },
                  index: 0,
                  type: 'function',
                },
              ],
            }),
          ),
          grok3(WEATHER, [{ index: 0, delta: {}, finish_reason: 'tool_calls' }]),
          grok3(WEATHER, [], usage(291, 290, 26, 196, 513)),
          DONE,
        ),
      },
      expected: {
        text: '',
        reasoning: 'First, the user is',
        toolCalls: [{ name: 'weather', arguments: { location: 'San Francisco' } }],
        usage: { inputTokens: 291, outputTokens: 222, cachedTokens: 290, reasoningTokens: 196 },
      },
      sdk: 'agrees',
    },
    {
      name: 'counts thoughts within completion_tokens when the total says so',
      source: AI_SDK_TEST,
      answer: {
        body: events(
          grok2025(COUNTED, 'grok-3-mini', { role: 'assistant', content: '' }),
          grok2025(COUNTED, 'grok-3-mini', { reasoning_content: 'Let me calculate: ' }),
          grok2025(COUNTED, 'grok-3-mini', { reasoning_content: '101 * 3 = 303' }),
          grok2025(COUNTED, 'grok-3-mini', { content: 'The answer is 303.' }),
          grok2025(COUNTED, 'grok-3-mini', {}, 'stop', INCLUDED_USAGE),
          DONE,
        ),
      },
      expected: {
        text: 'The answer is 303.',
        reasoning: 'Let me calculate: 101 * 3 = 303',
        usage: { inputTokens: 15, outputTokens: 20, reasoningTokens: 10 },
      },
      sdk: 'agrees',
    },
    {
      name: 'counts more cached tokens than prompt tokens, beside them',
      source: `${AI_SDK}/convert-xai-chat-usage.test.ts`,
      answer: {
        body: events(
          grok3(HELLO, delta({ content: 'Hello', role: 'assistant' })),
          grok3(HELLO, [{ index: 0, delta: {}, finish_reason: 'stop' }]),
          grok3(HELLO, [], {
            usage: {
              prompt_tokens: 4142,
              completion_tokens: 254,
              total_tokens: 8724,
              prompt_tokens_details: { cached_tokens: 4328 },
            },
          }),
          DONE,
        ),
      },
      expected: {
        text: 'Hello',
        usage: { inputTokens: 8470, outputTokens: 254, cachedTokens: 4328 },
      },
      sdk: 'agrees',
    },
    {
      name: 'has null for the details of its usage',
      source: `${AI_SDK}/convert-xai-chat-usage.test.ts`,
      answer: {
        body: events(
          grok3(HELLO, delta({ content: 'Hello', role: 'assistant' })),
          grok3(HELLO, [{ index: 0, delta: {}, finish_reason: 'stop' }]),
          grok3(HELLO, [], {
            usage: {
              prompt_tokens: 100,
              completion_tokens: 200,
              total_tokens: 300,
              prompt_tokens_details: null,
              completion_tokens_details: null,
            },
          }),
          DONE,
        ),
      },
      expected: { text: 'Hello', usage: { inputTokens: 100, outputTokens: 200 } },
      sdk: 'agrees',
    },
    {
      name: 'repeats one thought while it thinks',
      source: AI_SDK_TEST,
      answer: {
        body: events(
          grok2025('grok-4-test', 'grok-4-0709', { role: 'assistant', content: '' }),
          grok2025('grok-4-test', 'grok-4-0709', { reasoning_content: 'Thinking... ' }),
          grok2025('grok-4-test', 'grok-4-0709', { reasoning_content: 'Thinking... ' }),
          grok2025('grok-4-test', 'grok-4-0709', { reasoning_content: 'Actually calculating now...' }),
          grok2025('grok-4-test', 'grok-4-0709', { content: 'The answer is 42.' }),
          grok2025('grok-4-test', 'grok-4-0709', {}, 'stop', INCLUDED_USAGE),
          DONE,
        ),
      },
      expected: {
        text: 'The answer is 42.',
        reasoning: 'Thinking... Thinking... Actually calculating now...',
        usage: { inputTokens: 15, outputTokens: 20, reasoningTokens: 10 },
      },
      sdk: 'agrees',
    },
    {
      name: 'gives each chunk another id and cites pages beside the choices',
      source: AI_SDK_TEST,
      answer: {
        body: events(
          grok2025('d9f56e23-8b4c-4e7a-9d2f-6c8a9b5e3f7d', 'grok-beta', {
            role: 'assistant',
            content: 'Hello',
          }),
          grok2025('e2a47b89-3f6d-4c8e-9a1b-7d5f8c9e2a4b', 'grok-beta', { content: ' world' }),
          grok2025('f3b58c9a-4e7f-5d9e-ab2c-8e6f9d0e3b5c', 'grok-beta', {}, 'stop', {
            usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
            citations: ['https://example.com'],
          }),
          DONE,
        ),
      },
      expected: { text: 'Hello world', usage: { inputTokens: 10, outputTokens: 5 } },
      sdk: 'agrees',
    },
    {
      name: 'knows no such key and calls it an invalid argument',
      source: 'https://github.com/continuedev/continue/issues/10778',
      answer: refused(
        400,
        'Client specified an invalid argument',
        'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
      ),
      expected: { failure: /key/i },
    },
    {
      name: 'knows no such model, or keeps it from the team',
      source: 'https://github.com/yihong0618/bilingual_book_maker/issues/464',
      answer: refused(
        404,
        'Some requested entity was not found',
        "The model grok-beta does not exist or your team bdc397fa-17fc-468e-9180-d0870ca1e10a does not have access to it. Please ensure you're using the correct API key. If you believe this is a mistake, please contact support and quote your team ID and the model name.",
      ),
      expected: { failure: /model/i },
    },
    {
      name: 'knows no such address',
      source: 'https://github.com/iniwap/AIWriteX/issues/26',
      answer: refused(
        404,
        'Some requested entity was not found',
        'No handler found on route. Please double check your URL and consult https://api.x.ai/docs for more information.',
      ),
      expected: { failure: /url|address|route/i },
    },
    {
      name: 'wants more credits, with the status of a rate limit',
      source: 'https://github.com/continuedev/continue/issues/10373',
      answer: refused(
        429,
        'Some resource has been exhausted',
        'Your team 16f2151a-40f4-4a80-8ad0-cae00c27e8dd has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
      ),
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'wants more credits, with the status of a permission',
      source: 'https://github.com/Anantys-oss/koan/issues/2412',
      answer: refused(
        403,
        'permission-denied',
        'Your team deadb-a58d-46ca-80a1-beefbeef has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
      ),
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'counts a conversation that is too long',
      source: 'https://github.com/cline/cline/issues/3120',
      answer: refused(
        400,
        'Client specified an invalid argument',
        "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
      ),
      expected: { failure: /too long|context/i },
    },
    {
      name: 'refuses an argument for one of its models',
      source: 'https://github.com/yym68686/uni-api/issues/105',
      answer: refused(
        400,
        'Client specified an invalid argument',
        'Argument not supported on this model: presencePenalty',
      ),
      expected: { failure: /presence_?penalty/i },
    },
  ],
};
