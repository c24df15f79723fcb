import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const RECORDING = 'https://github.com/openai/openai-python/blob/main/.inline-snapshot/external';
const AI_SDK_TEST =
  'https://github.com/vercel/ai/blob/main/packages/openai/src/chat/openai-chat-language-model.test.ts';

/** A chunk of gpt-4o in 2024. */
function gpt4o(id: string, fingerprint: string, delta: object, finishReason: string | null = null): object {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1727346182,
    model: 'gpt-4o-2024-08-06',
    system_fingerprint: fingerprint,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  };
}

function gpt4oUsage(id: string, fingerprint: string, prompt: number, completion: number): object {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1727346182,
    model: 'gpt-4o-2024-08-06',
    system_fingerprint: fingerprint,
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

/** The delta that opens a call: its id, its name and its first arguments. */
function opening(index: number, id: string, name: string, args: string): object {
  return { index, id, type: 'function', function: { name, arguments: args } };
}

/** A delta with more arguments of a call. */
function more(index: number, args: string): object {
  return { tool_calls: [{ index, function: { arguments: args } }] };
}

/** A chunk of gpt-3.5 in 2024. */
function gpt35(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-96aZqmeDpA9IPD6tACY8djkMsJCMP',
    object: 'chat.completion.chunk',
    created: 1711357598,
    model: 'gpt-3.5-turbo-0125',
    system_fingerprint: 'fp_3bc1b5746c',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  };
}

const GPT35_USAGE = {
  id: 'chatcmpl-96aZqmeDpA9IPD6tACY8djkMsJCMP',
  object: 'chat.completion.chunk',
  created: 1711357598,
  model: 'gpt-3.5-turbo-0125',
  system_fingerprint: 'fp_3bc1b5746c',
  choices: [],
  usage: { prompt_tokens: 53, completion_tokens: 17, total_tokens: 70 },
};

const ONE_CALL = ['chatcmpl-ABfwERreu9s99xXsVuOWtIB2UOx62', 'fp_143bb8492c'] as const;
const TWO_CALLS = ['chatcmpl-ABfwAwrNePHUgBBezonVC6MX3zd63', 'fp_5050236cbd'] as const;

/** How OpenAI streams tool calls over chat completions. */
export const openaiChatToolsShapes: ProviderShapes = {
  provider: 'openai',
  api: 'chat',
  shapes: [
    {
      name: 'opens a call with empty arguments in its first chunk',
      source: `${RECORDING}/2018feb66ae13fcf5333d61b95849decc68d3f63bd38172889367e1afb1e04f7.bin`,
      answer: {
        body: events(
          gpt4o(...ONE_CALL, {
            role: 'assistant',
            content: null,
            tool_calls: [opening(0, 'call_4XzlGBLtUe9dy3GVNV4jhq7h', 'get_weather', '')],
            refusal: null,
          }),
          gpt4o(...ONE_CALL, more(0, '{"')),
          gpt4o(...ONE_CALL, more(0, 'city')),
          gpt4o(...ONE_CALL, more(0, '":"')),
          gpt4o(...ONE_CALL, more(0, 'New')),
          gpt4o(...ONE_CALL, more(0, ' York')),
          gpt4o(...ONE_CALL, more(0, '"}')),
          gpt4o(...ONE_CALL, {}, 'tool_calls'),
          gpt4oUsage(...ONE_CALL, 44, 16),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_weather', arguments: { city: 'New York' } }],
        usage: { inputTokens: 44, outputTokens: 16, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'streams parallel calls one after the other, told apart by their index',
      source: `${RECORDING}/f82268f2fefd5cfbc7eeb59c297688be2f6ca0849a6e4f17851b517310841d9b.bin`,
      answer: {
        body: events(
          gpt4o(...TWO_CALLS, { role: 'assistant', content: null }),
          gpt4o(...TWO_CALLS, {
            tool_calls: [opening(0, 'call_JMW1whyEaYG438VE1OIflxA2', 'GetWeatherArgs', '')],
          }),
          gpt4o(...TWO_CALLS, more(0, '{"ci')),
          gpt4o(...TWO_CALLS, more(0, 'ty": ')),
          gpt4o(...TWO_CALLS, more(0, '"Edinb')),
          gpt4o(...TWO_CALLS, more(0, 'urgh"}')),
          gpt4o(...TWO_CALLS, {
            tool_calls: [opening(1, 'call_DNYTawLBoN8fj3KN6qU9N1Ou', 'get_stock_price', '')],
          }),
          gpt4o(...TWO_CALLS, more(1, '{"ti')),
          gpt4o(...TWO_CALLS, more(1, 'cker"')),
          gpt4o(...TWO_CALLS, more(1, ': "AAP')),
          gpt4o(...TWO_CALLS, more(1, 'L"')),
          gpt4o(...TWO_CALLS, more(1, '}')),
          gpt4o(...TWO_CALLS, {}, 'tool_calls'),
          gpt4oUsage(...TWO_CALLS, 149, 60),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'GetWeatherArgs', arguments: { city: 'Edinburgh' } },
          { name: 'get_stock_price', arguments: { ticker: 'AAPL' } },
        ],
        usage: { inputTokens: 149, outputTokens: 60, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'begins the arguments in the chunk that opens the call',
      source: AI_SDK_TEST,
      answer: {
        body: events(
          gpt35({
            role: 'assistant',
            content: null,
            tool_calls: [opening(0, 'call_O17Uplv4lJvD6DVdIvFFeRMw', 'test-tool', '{"')],
          }),
          gpt35(more(0, 'va')),
          gpt35(more(0, 'lue')),
          gpt35(more(0, '":"')),
          gpt35(more(0, 'Spark')),
          gpt35(more(0, 'le')),
          gpt35(more(0, ' Day')),
          gpt35(more(0, '"}')),
          gpt35({}, 'tool_calls'),
          GPT35_USAGE,
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'test-tool', arguments: { value: 'Sparkle Day' } }],
        usage: { inputTokens: 53, outputTokens: 17 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends a whole call in one chunk',
      source: AI_SDK_TEST,
      answer: {
        body: events(
          gpt35({
            role: 'assistant',
            content: null,
            tool_calls: [opening(0, 'call_O17Uplv4lJvD6DVdIvFFeRMw', 'test-tool', '{"value":"Sparkle Day"}')],
          }),
          gpt35({}, 'tool_calls'),
          GPT35_USAGE,
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'test-tool', arguments: { value: 'Sparkle Day' } }],
        usage: { inputTokens: 53, outputTokens: 17 },
      },
      sdk: 'agrees',
    },
  ],
};
