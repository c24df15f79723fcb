import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const SERVING_CHAT = 'https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/serving_chat.py';

/** A chunk as vLLM writes it: with logprobs, and without the fields that nobody set. */
function piece(delta: object, finishReason: string | null = null, more: object = {}): object {
  return {
    id: 'chat-2487a8a959e2480081550c5c25694def',
    object: 'chat.completion.chunk',
    created: 1723032007,
    model: 'meta-llama/Meta-Llama-3-8B-Instruct',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason, ...more }],
  };
}

function usage(completionTokens: number): object {
  return {
    usage: { prompt_tokens: 16, total_tokens: 16 + completionTokens, completion_tokens: completionTokens },
  };
}

const opening = piece({ role: 'assistant', content: '' });

export const vllmShapes: ProviderShapes = {
  provider: 'vllm',
  api: 'chat',
  shapes: [
    {
      name: 'opens with the role alone and ends with a stop reason of its own',
      source: 'https://github.com/vllm-project/vllm/issues/7299',
      answer: {
        body: events(opening, piece({ content: '1' }, 'length', { stop_reason: null }), DONE),
      },
      expected: { text: '1', finishReason: 'length' },
      sdk: 'agrees',
    },
    {
      name: 'sends usage in every chunk',
      source: 'https://github.com/vllm-project/vllm/issues/7262',
      answer: {
        body: events(
          { ...opening, ...usage(0) },
          { ...piece({ content: '!' }), ...usage(1) },
          { ...piece({ content: ' glare' }), ...usage(2) },
          { ...piece({ content: '' }, 'stop', { stop_reason: null }), ...usage(3) },
          {
            id: 'chat-2487a8a959e2480081550c5c25694def',
            object: 'chat.completion.chunk',
            created: 1723032007,
            model: 'meta-llama/Meta-Llama-3-8B-Instruct',
            choices: [],
            ...usage(3),
          },
          DONE,
        ),
      },
      expected: { text: '! glare', usage: { inputTokens: 16, outputTokens: 3 } },
      sdk: 'agrees',
    },
    {
      name: 'thinks in delta.reasoning',
      source: 'https://github.com/vllm-project/vllm/blob/main/docs/features/reasoning_outputs.md',
      answer: {
        body: events(
          piece({ role: 'assistant', content: '' }),
          piece({ reasoning: '9.8' }),
          piece({ reasoning: ' is' }),
          piece({ content: '9.8' }),
          piece({ content: '' }, 'stop', { stop_reason: null }),
          DONE,
        ),
      },
      expected: { text: '9.8', reasoning: '9.8 is' },
      sdk: 'agrees',
    },
    {
      name: 'thinks in delta.reasoning_content, as older versions name it',
      source: SERVING_CHAT,
      answer: {
        body: events(
          opening,
          piece({ reasoning_content: '9.8' }),
          piece({ reasoning_content: ' is' }),
          piece({ content: '9.8' }, 'stop', { stop_reason: null }),
          DONE,
        ),
      },
      expected: { text: '9.8', reasoning: '9.8 is' },
      sdk: 'agrees',
    },
    {
      name: 'names a call chatcmpl-tool and sends the pieces of its arguments without an id',
      source: 'https://github.com/SecretiveShell/MCP-Bridge/pull/8',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-64aa8ec82efa4007b5fbf1ea885dea00',
                type: 'function',
                index: 0,
                function: { name: 'fetch', arguments: '' },
              },
            ],
          }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '{"url": "https://' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: 'something' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '.com"' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: ', "max_length": ' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '5000}' } }] }),
          piece({ content: '' }, 'tool_calls', { stop_reason: null }),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'fetch', arguments: { url: 'https://something.com', max_length: 5000 } }],
      },
      sdk: 'agrees',
    },
    {
      name: 'numbers both calls 0 and gives the pieces of the arguments an empty id',
      source: 'https://github.com/InternLM/lmdeploy/issues/3412',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                index: 0,
                id: 'chatcmpl-tool-c9ZCzB9b9NikK5kjPBXpFG',
                function: { arguments: '', name: 'func_name' },
                type: 'function',
              },
            ],
          }),
          piece({
            tool_calls: [
              { index: 0, id: '', function: { arguments: '{"n": 1}', name: null }, type: 'function' },
            ],
          }),
          piece({
            tool_calls: [
              {
                index: 0,
                id: 'chatcmpl-tool-HfzZPEVfQgvgpSJccb8Vr8',
                function: { arguments: '', name: 'func_name' },
                type: 'function',
              },
            ],
          }),
          piece({
            tool_calls: [
              { index: 0, id: '', function: { arguments: '{"n": 2}', name: null }, type: 'function' },
            ],
          }),
          piece({ content: '' }, 'tool_calls', { stop_reason: null }),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'func_name', arguments: { n: 1 } },
          { name: 'func_name', arguments: { n: 2 } },
        ],
      },
      sdk: { differs: 'it joins the arguments of both calls in the first one' },
    },
    {
      name: 'repeats the id of a call with each piece of its arguments',
      source: 'https://github.com/spring-projects/spring-ai/pull/5973',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-e5add885dbb342de950be95dd89b71e7',
                type: 'function',
                index: 0,
                function: { name: 'get_current_weather', arguments: '' },
              },
            ],
          }),
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-e5add885dbb342de950be95dd89b71e7',
                index: 0,
                function: { arguments: '{"city": ' },
              },
            ],
          }),
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-e5add885dbb342de950be95dd89b71e7',
                index: 0,
                function: { arguments: '"Dallas"}' },
              },
            ],
          }),
          piece({ content: '' }, 'tool_calls', { stop_reason: null }),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_current_weather', arguments: { city: 'Dallas' } }] },
      sdk: 'agrees',
    },
    {
      name: 'leaks a token of gpt-oss into the name of a call',
      source: 'https://github.com/vllm-project/vllm/issues/32587',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-a165800d4d7789c7',
                type: 'function',
                index: 0,
                function: { name: 'query_dataset<|channel|>commentary', arguments: '' },
              },
            ],
          }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '{"query":"all"}' } }] }),
          piece({}, 'tool_calls', { stop_reason: 200012 }),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'query_dataset', arguments: { query: 'all' } }] },
      sdk: { differs: 'it keeps the token in the name' },
    },
    {
      name: 'drops the last brace of the arguments',
      source: 'https://github.com/vllm-project/vllm/issues/32152',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-a91e77be296474b3',
                type: 'function',
                index: 0,
                function: { name: 'get_weather', arguments: '' },
              },
            ],
          }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '{"days": 3' } }] }),
          piece({ content: '' }, 'tool_calls', { stop_reason: null }),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: '{"days": 3' }] },
      sdk: 'agrees',
    },
    {
      name: 'sends no arguments for a tool without parameters',
      source: 'https://github.com/vllm-project/vllm/issues/28806',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-b49ea289550d6ce098bc0017',
                type: 'function',
                index: 0,
                function: { name: 'get_time' },
              },
            ],
          }),
          piece({ content: '' }, 'tool_calls', { stop_reason: null }),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_time', arguments: {} }] },
      sdk: 'agrees',
    },
    {
      name: 'ends by abort though the engine broke the reply off',
      source: 'https://github.com/vllm-project/vllm/issues/57082',
      answer: {
        body: events(opening, piece({ content: 'Once upon' }), piece({ content: '' }, 'abort'), DONE),
      },
      expected: { failure: /abort/i, text: 'Once upon' },
      sdk: { differs: 'it takes the broken reply for a whole one' },
    },
  ],
};
