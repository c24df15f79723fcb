import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** A chunk as Text Generation Inference writes it: without an id, and with the role in each delta. */
function piece(delta: object, finishReason: string | null = null): object {
  return {
    object: 'chat.completion.chunk',
    id: '',
    created: 1741688515,
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    system_fingerprint: '3.1.2-dev0-native',
    choices: [
      { index: 0, delta: { role: 'assistant', ...delta }, logprobs: null, finish_reason: finishReason },
    ],
    usage: null,
  };
}

function callPiece(name: string | null, argumentsPiece: string): object {
  return piece({
    content: null,
    tool_calls: [{ index: 0, id: '0', type: 'function', function: { name, arguments: argumentsPiece } }],
  });
}

/** The same as of version 2.4: one call, and no list around it. */
function bareCallPiece(name: string | null, argumentsPiece: string): object {
  return piece({
    tool_calls: { index: 0, id: '', type: 'function', function: { name, arguments: argumentsPiece } },
  });
}

/** A chunk of version 1.4, which counts the tokens in the index of the choice. */
function countedPiece(index: number, content: string, finishReason: string | null = null): object {
  return {
    id: '',
    object: 'text_completion',
    created: 1710508199,
    model: 'HuggingFaceH4/zephyr-7b-beta',
    system_fingerprint: '1.4.3-sha-e6bb3ff',
    choices: [{ index, delta: { role: 'assistant', content }, logprobs: null, finish_reason: finishReason }],
  };
}

function line(data: object): string {
  return `data:${JSON.stringify(data)}\n\n`;
}

export const huggingfaceTgiShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'TGI writes no blank after data: and calls its chunks text_completion',
      source: 'https://github.com/huggingface/text-generation-inference/issues/2019',
      answer: {
        body:
          line(countedPiece(0, 'Here')) +
          line(countedPiece(0, ' you')) +
          line(countedPiece(0, ' are', 'stop')),
      },
      expected: { text: 'Here you are' },
      sdk: 'agrees',
    },
    {
      name: 'TGI counts the tokens in the index of the choice',
      source: 'https://github.com/huggingface/text-generation-inference/pull/1648',
      answer: {
        body: line(countedPiece(1, 'I')) + line(countedPiece(2, "'")) + line(countedPiece(3, 'm', 'length')),
      },
      expected: { text: "I'm", finishReason: 'length' },
      sdk: 'agrees',
    },
    {
      name: 'TGI closes the stream without [DONE]',
      source: 'https://github.com/huggingface/text-generation-inference/issues/1896',
      answer: { body: events(piece({ content: 'Hello' }), piece({ content: '!' }, 'stop')) },
      expected: { text: 'Hello!' },
      sdk: 'agrees',
    },
    {
      name: 'TGI writes no blank before [DONE]',
      source: 'https://github.com/huggingface/huggingface_hub/issues/4536',
      answer: {
        body: `${line(piece({ content: 'Hello' }))}${line(piece({ content: '!' }, 'stop'))}data:[DONE]\n\n`,
      },
      expected: { text: 'Hello!' },
      sdk: 'agrees',
    },
    {
      name: 'TGI ends a call with [DONE] and without a finish reason',
      source:
        'https://github.com/huggingface/text-generation-inference/blob/main/integration-tests/models/__snapshots__/test_tools_llama/test_flash_llama_grammar_tools_choice_stream.json',
      answer: {
        body: events(
          callPiece('get_current_weather', '{'),
          callPiece(null, ' "'),
          callPiece(null, 'location'),
          callPiece(null, '":'),
          callPiece(null, ' "'),
          callPiece(null, 'Brooklyn, NY'),
          callPiece(null, '"}'),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_current_weather', arguments: { location: 'Brooklyn, NY' } }],
      },
      sdk: { differs: 'it demands a finish reason' },
    },
    {
      name: 'TGI sends a call without a list around it',
      source: 'https://github.com/huggingface/text-generation-inference/issues/2794',
      answer: {
        body: events(
          bareCallPiece('get_current_weather', '{'),
          bareCallPiece(null, ' "'),
          bareCallPiece(null, 'loc'),
          bareCallPiece(null, 'ation":'),
          bareCallPiece(null, ' "Paris"}'),
          piece({ content: '' }, 'stop'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_current_weather', arguments: { location: 'Paris' } }] },
      sdk: { differs: 'it expects a list of calls' },
    },
    {
      name: 'TGI answers with one JSON object, a call without a list, its parameters as an object, and eos_token',
      source:
        'https://github.com/huggingface/text-generation-inference/blob/main/docs/source/basic_tutorials/using_guidance.md',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: '{"id":"","object":"text_completion","created":1709051640,"model":"HuggingFaceH4/zephyr-7b-beta","system_fingerprint":"1.4.3-native","choices":[{"index":0,"message":{"role":"assistant","tool_calls":{"id":0,"type":"function","function":{"description":null,"name":"tools","parameters":{"format":"celsius","location":"New York"}}}},"logprobs":null,"finish_reason":"eos_token"}],"usage":{"prompt_tokens":157,"completion_tokens":19,"total_tokens":176}}',
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'tools', arguments: { format: 'celsius', location: 'New York' } }],
        usage: { inputTokens: 157, outputTokens: 19 },
      },
      sdk: { differs: 'it looks for events and finds none' },
    },
    {
      name: 'TGI tells in a stream with status 200 that a parameter is wrong',
      source: 'https://github.com/huggingface/text-generation-inference/issues/1896',
      answer: {
        body: line({
          error: 'Input validation error: `top_p` must be > 0.0 and < 1.0',
          error_type: 'validation',
        }),
      },
      expected: { failure: /top_p/i },
      sdk: 'agrees',
    },
    {
      name: 'TGI refuses a conversation that leaves too few tokens for the reply',
      source: 'https://github.com/huggingface/chat-ui/issues/1149',
      answer: {
        status: 422,
        body: JSON.stringify({
          error:
            'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6204 `inputs` tokens and 2047 `max_new_tokens`',
          error_type: 'validation',
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'TGI refuses a conversation that is too long',
      source: 'https://github.com/meta-llama/llama/issues/1103',
      answer: {
        status: 422,
        body: JSON.stringify({
          error: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 4545',
          error_type: 'validation',
        }),
      },
      expected: { failure: /too long|context/i },
    },
  ],
};
