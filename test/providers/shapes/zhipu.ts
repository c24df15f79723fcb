import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const clientTest =
  'https://github.com/Xiang-CH/zhipu-ai-provider/blob/main/src/zhipu-chat-language-model.test.ts';

const flash = {
  id: 'flash-001',
  object: 'chat.completion.chunk',
  created: 1_773_168_059,
  model: 'glm-4.7-flash',
};

const older = { object: 'chat.completion.chunk', created: 1_702_657_020, model: 'glm-4-flash' };

/** GLM of Zhipu (Z.AI, BigModel), as an OpenAI-compatible server. */
export const zhipuShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'goes from its thoughts straight to a tool call, in choices without a finish_reason',
      source: clientTest,
      answer: {
        body: events(
          {
            ...flash,
            choices: [{ index: 0, delta: { role: 'assistant', reasoning_content: 'The user wants' } }],
          },
          {
            ...flash,
            choices: [{ index: 0, delta: { role: 'assistant', reasoning_content: ' to list all files.' } }],
          },
          {
            ...flash,
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [
                    {
                      id: 'call_4b630193',
                      index: 0,
                      type: 'function',
                      function: { name: 'find-library-files', arguments: '{"limit":30,"listAll":true}' },
                    },
                  ],
                },
              },
            ],
          },
          {
            ...flash,
            choices: [{ index: 0, finish_reason: 'tool_calls', delta: { role: 'assistant', content: '' } }],
            usage: {
              prompt_tokens: 16_206,
              completion_tokens: 130,
              total_tokens: 16_336,
              prompt_tokens_details: { cached_tokens: 43 },
              completion_tokens_details: { reasoning_tokens: 110 },
            },
          },
          DONE,
        ),
      },
      expected: {
        text: '',
        reasoning: 'The user wants to list all files.',
        toolCalls: [{ name: 'find-library-files', arguments: { limit: 30, listAll: true } }],
        usage: { inputTokens: 16_206, outputTokens: 130, cachedTokens: 43, reasoningTokens: 110 },
      },
      sdk: 'agrees',
    },
    {
      name: 'stops a reply with finish_reason sensitive',
      source: clientTest,
      answer: {
        body: events(
          {
            id: 'sens-1',
            ...older,
            choices: [
              { index: 0, delta: { role: 'assistant', content: 'I cannot' }, finish_reason: 'sensitive' },
            ],
            usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
          },
          DONE,
        ),
      },
      expected: { failure: /filter|safety|refus|sensitive/i, text: 'I cannot' },
      sdk: { differs: 'It takes every finish_reason for an end.' },
    },
    {
      name: 'breaks off with finish_reason network_error',
      source: clientTest,
      answer: {
        body: events(
          {
            id: 'err-1',
            ...older,
            choices: [
              { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'network_error' },
            ],
          },
          DONE,
        ),
      },
      expected: { failure: /network_error|trouble|later|again/i },
      sdk: { differs: 'It takes every finish_reason for an end.' },
    },
    {
      name: 'answers 429 with code 1113 where the balance is used up',
      source: 'https://github.com/zai-org/GLM-5/issues/148',
      answer: {
        status: 429,
        body: JSON.stringify({
          error: {
            code: '1113',
            message: 'Insufficient balance or no resource package. Please recharge.',
          },
        }),
      },
      expected: { failure: /quota|credit|billing|balance/i },
    },
    {
      name: 'says code 1113 in Chinese on its Chinese address',
      source: 'https://github.com/zhayujie/CowAgent/issues/2910',
      answer: {
        status: 429,
        body: JSON.stringify({ error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }),
      },
      expected: { failure: /quota|credit|billing|balance/i },
    },
  ],
};
