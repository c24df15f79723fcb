import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** A chunk as LM Studio writes it: with the model as the fingerprint too. */
function piece(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-8cybkqa7743exgha66o2hg',
    object: 'chat.completion.chunk',
    created: 1746707722,
    model: 'qwen3-30b-a3b-128k',
    system_fingerprint: 'qwen3-30b-a3b-128k',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  };
}

/** An error as LM Studio streams it: under a name, with its message twice. */
function errorEvent(message: string): string {
  return `event: error\ndata: ${JSON.stringify({ error: { message }, message })}\n\n`;
}

export const lmstudioShapes: ProviderShapes = {
  provider: 'lmstudio',
  api: 'chat',
  shapes: [
    {
      name: 'streams a call with an id of digits',
      source: 'https://github.com/lmstudio-ai/docs/blob/main/1_developer/3_openai-compat/tools.md',
      answer: {
        body: events(
          piece({
            role: 'assistant',
            tool_calls: [
              {
                index: 0,
                id: '814890118',
                type: 'function',
                function: { name: 'get_current_weather', arguments: '' },
              },
            ],
          }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '{"' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: 'location' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '":"' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: 'San Francisco' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] }),
          piece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_current_weather', arguments: { location: 'San Francisco' } }],
      },
      sdk: 'agrees',
    },
    {
      name: 'gives the pieces of the arguments an empty name',
      source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/649',
      answer: {
        body: events(
          piece({
            role: 'assistant',
            tool_calls: [
              { index: 0, id: '365174485', type: 'function', function: { name: 'search', arguments: '' } },
            ],
          }),
          piece({ tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '{"' } }] }),
          piece({ tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: 'count' } }] }),
          piece({ tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '":' } }] }),
          piece({ tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '5}' } }] }),
          piece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'search', arguments: { count: 5 } }] },
      sdk: 'agrees',
    },
    {
      name: 'answers with one JSON object and a call in it',
      source: 'https://github.com/lmstudio-ai/docs/blob/main/1_developer/3_openai-compat/tools.md',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'chatcmpl-gb1t1uqzefudice8ntxd9i',
          object: 'chat.completion',
          created: 1730913210,
          model: 'lmstudio-community/qwen2.5-7b-instruct',
          choices: [
            {
              index: 0,
              logprobs: null,
              finish_reason: 'tool_calls',
              message: {
                role: 'assistant',
                tool_calls: [
                  {
                    id: '365174485',
                    type: 'function',
                    function: {
                      name: 'search_products',
                      arguments: '{"query":"dell","category":"electronics","max_price":50}',
                    },
                  },
                ],
              },
            },
          ],
          usage: { prompt_tokens: 263, completion_tokens: 34, total_tokens: 297 },
          system_fingerprint: 'lmstudio-community/qwen2.5-7b-instruct',
        }),
      },
      expected: {
        text: '',
        toolCalls: [
          {
            name: 'search_products',
            arguments: { query: 'dell', category: 'electronics', max_price: 50 },
          },
        ],
        usage: { inputTokens: 263, outputTokens: 34 },
      },
      sdk: { differs: 'it looks for events and finds none' },
    },
    {
      name: 'tells in an event named error that the input is too long',
      source: 'https://github.com/aaif-goose/goose/issues/11318',
      answer: {
        headers: { 'content-type': 'text/event-stream', 'x-powered-by': 'Express' },
        body: errorEvent(
          'Input does not fit in context length. The input has 31430 tokens, but the context length only supports 30000 tokens.',
        ),
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'tells in an event named error that it cannot truncate the prompt',
      source: 'https://github.com/anomalyco/opencode/issues/11141',
      answer: { body: errorEvent('Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)') },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'reaches the context length in the middle of a reply',
      source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1251',
      answer: {
        body:
          events(piece({ role: 'assistant', content: 'Once upon' })) +
          errorEvent(
            'Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.',
          ),
      },
      expected: { failure: /too long|context/i, text: 'Once upon' },
      sdk: 'agrees',
    },
    {
      name: 'tells an error in plain data with its message twice',
      source: 'https://github.com/zendev-sh/goai/pull/110',
      answer: { body: events({ error: { message: 'Compute error.' }, message: 'Compute error.' }) },
      expected: { failure: /trouble|later/i },
      sdk: 'agrees',
    },
    {
      name: 'says nothing where the prompt is larger than the loaded context',
      source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2339',
      answer: {
        body: events(
          piece({ role: 'assistant' }),
          piece({}, 'stop'),
          {
            id: 'chatcmpl-8cybkqa7743exgha66o2hg',
            object: 'chat.completion.chunk',
            created: 1746707722,
            model: 'qwen3-30b-a3b-128k',
            system_fingerprint: 'qwen3-30b-a3b-128k',
            choices: [],
            usage: { prompt_tokens: 36012, completion_tokens: 1, total_tokens: 36013 },
          },
          DONE,
        ),
      },
      expected: { failure: /empty|nothing|no text|no answer/i },
      sdk: { differs: 'it returns a message without content' },
    },
    {
      name: 'refuses with a bare string a first message that is too long',
      source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/237',
      answer: {
        status: 400,
        body: JSON.stringify({
          error:
            'Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'has no model loaded',
      source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1730',
      answer: {
        status: 404,
        body: JSON.stringify({
          error: {
            message:
              "No models loaded. Please load a model in the developer page or use the 'lms load' command.",
            type: 'invalid_request_error',
            param: 'model',
            code: null,
          },
        }),
      },
      expected: { failure: /model/i },
    },
  ],
};
