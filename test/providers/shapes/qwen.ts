import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** DashScope writes the choices first and the id last. */
function qwenChunk(choices: readonly object[], usage: object | null = null) {
  return {
    choices,
    object: 'chat.completion.chunk',
    usage,
    created: 1_770_764_938,
    system_fingerprint: null,
    model: 'qwen3-max',
    id: 'chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368',
  };
}

/** Qwen on Alibaba's DashScope, as an OpenAI-compatible server. */
export const qwenShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'repeats a tool call with an empty id, and once in a choice without a finish_reason',
      source:
        'https://github.com/vercel/ai/blob/a0d48878ddcde83d53951f80bb8fd3e1117ab0a0/packages/alibaba/src/__fixtures__/alibaba-tool-call.chunks.txt',
      answer: {
        body: events(
          qwenChunk([
            {
              delta: {
                content: null,
                tool_calls: [
                  {
                    index: 0,
                    id: 'call_eee11723464a4b9eb8cee71d',
                    type: 'function',
                    function: { name: 'weather', arguments: '' },
                  },
                ],
                role: 'assistant',
              },
              finish_reason: null,
              index: 0,
              logprobs: null,
            },
          ]),
          qwenChunk([
            {
              delta: {
                content: null,
                tool_calls: [
                  {
                    index: 0,
                    id: '',
                    type: 'function',
                    function: { arguments: '{"location": "San Francisco' },
                  },
                ],
              },
              finish_reason: null,
              index: 0,
              logprobs: null,
            },
          ]),
          qwenChunk([
            {
              delta: {
                content: null,
                tool_calls: [{ index: 0, id: '', type: 'function', function: { arguments: '"}' } }],
              },
              finish_reason: null,
              index: 0,
              logprobs: null,
            },
          ]),
          qwenChunk([
            {
              delta: {
                tool_calls: [{ function: { arguments: '' }, index: 0, id: '', type: 'function' }],
              },
              index: 0,
            },
          ]),
          qwenChunk([{ finish_reason: 'tool_calls', delta: {}, index: 0, logprobs: null }]),
          qwenChunk([], {
            prompt_tokens: 295,
            completion_tokens: 22,
            total_tokens: 317,
            prompt_tokens_details: { cached_tokens: 0 },
          }),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'weather', arguments: { location: 'San Francisco' } }],
        usage: { inputTokens: 295, outputTokens: 22, cachedTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'writes the tool call into its thoughts and ends with nothing said',
      source:
        'https://github.com/vercel/ai/blob/fb719bc922e62850c399839c2201a1cae43e910e/packages/alibaba/src/__fixtures__/alibaba-reasoning-tool-call.chunks.txt',
      answer: {
        body: events(
          {
            choices: [
              {
                delta: {
                  role: 'assistant',
                  content: null,
                  reasoning_content: '```json\n{"tool_calls":[',
                },
                index: 0,
                finish_reason: null,
              },
            ],
            id: 'chatcmpl-qwen-stream-tool-call',
            created: 1_770_764_902,
            model: 'qwen3.5-plus',
            usage: null,
          },
          {
            choices: [
              {
                delta: {
                  reasoning_content:
                    '{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\\"city\\":\\"Lisbon\\"}"}}',
                },
                index: 0,
                finish_reason: null,
              },
            ],
            id: 'chatcmpl-qwen-stream-tool-call',
            created: 1_770_764_902,
            model: 'qwen3.5-plus',
            usage: null,
          },
          {
            choices: [{ delta: { reasoning_content: ']}\n```' }, index: 0, finish_reason: 'stop' }],
            id: 'chatcmpl-qwen-stream-tool-call',
            created: 1_770_764_902,
            model: 'qwen3.5-plus',
            usage: null,
          },
          {
            choices: [],
            id: 'chatcmpl-qwen-stream-tool-call',
            created: 1_770_764_902,
            model: 'qwen3.5-plus',
            usage: {
              prompt_tokens: 10,
              completion_tokens: 20,
              total_tokens: 30,
              completion_tokens_details: { reasoning_tokens: 12 },
              prompt_tokens_details: { cached_tokens: 0 },
            },
          },
          DONE,
        ),
      },
      expected: { failure: /empty|nothing/i },
      sdk: { differs: 'It takes an empty message for a reply.' },
    },
    {
      name: 'refuses the input with data_inspection_failed, beside an id and a request_id',
      source: 'https://github.com/666ghj/BettaFish/issues/449',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              'Input data may contain inappropriate content. For details, see: https://help.aliyun.com/zh/model-studio/error-code#inappropriate-content',
            type: 'data_inspection_failed',
            param: null,
            code: 'data_inspection_failed',
          },
          id: 'chatcmpl-c2b25c93-9684-4d7e-91df-793f0cdbef88',
          request_id: 'c2b25c93-9684-4d7e-91df-793f0cdbef88',
        }),
      },
      expected: { failure: /filter|safety|refus/i },
    },
  ],
};
