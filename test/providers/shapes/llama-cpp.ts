import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const CHUNK_FIELDS = {
  created: 1750271648,
  id: 'chatcmpl-PZ5ZD8fqMnhPYSsPlrOieSvbLMKUCe69',
  model: '',
  system_fingerprint: 'b1-a414a44',
  object: 'chat.completion.chunk',
};

/** A chunk as the server of llama.cpp writes it: with the choices first. */
function piece(delta: object, finishReason: string | null = null, more: object = {}): object {
  return { choices: [{ finish_reason: finishReason, index: 0, delta }], ...CHUNK_FIELDS, ...more };
}

const opening = piece({ role: 'assistant', content: null });

export const llamaCppShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'llama.cpp opens with a content of null and names no model',
      source: 'https://github.com/ggml-org/llama.cpp/issues/14268',
      answer: { body: events(opening, piece({ content: 'test' }), piece({}, 'stop'), DONE) },
      expected: { text: 'test' },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp adds timings to the piece with the usage',
      source: 'https://github.com/ggml-org/llama.cpp/pull/15827',
      answer: {
        body: events(
          opening,
          piece({ content: 'Hi' }),
          piece({}, 'stop'),
          {
            choices: [],
            ...CHUNK_FIELDS,
            usage: {
              completion_tokens: 35,
              prompt_tokens: 237,
              total_tokens: 272,
              prompt_tokens_details: { cached_tokens: 236 },
            },
            timings: {
              cache_n: 236,
              prompt_n: 1,
              prompt_ms: 30.958,
              prompt_per_token_ms: 30.958,
              prompt_per_second: 32.301828283480845,
              predicted_n: 35,
              predicted_ms: 661.064,
              predicted_per_token_ms: 18.887542857142858,
              predicted_per_second: 52.94494935437416,
            },
          },
          DONE,
        ),
      },
      expected: { text: 'Hi', usage: { inputTokens: 237, outputTokens: 35, cachedTokens: 236 } },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp tells how far it read the prompt before it answers',
      source: 'https://github.com/ggml-org/llama.cpp/pull/15827',
      answer: {
        body: events(
          piece({ role: 'assistant', content: null }, null, {
            prompt_progress: { total: 237, cache: 0, processed: 128, time_ms: 181 },
          }),
          piece({ role: 'assistant', content: null }, null, {
            prompt_progress: { total: 237, cache: 0, processed: 237, time_ms: 340 },
          }),
          piece({ content: 'Hi' }),
          piece({}, 'stop'),
          DONE,
        ),
      },
      expected: { text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp sends empty comments while it reads the prompt',
      source: 'https://github.com/ggml-org/llama.cpp/pull/24013',
      answer: {
        body: [':\n\n', ':\n\n', ':\n\n', events(opening, piece({ content: 'Hi' }), piece({}, 'stop'), DONE)],
      },
      expected: { text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp ends without a blank line after [DONE]',
      source: 'https://github.com/darshi1337/apogee/pull/139',
      answer: { body: `${events(opening, piece({ content: 'Hi' }), piece({}, 'stop'))}data: [DONE]\n` },
      expected: { text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp thinks in reasoning_content',
      source: 'https://github.com/ahwurm/localharness/issues/142',
      answer: {
        body: events(
          opening,
          piece({ reasoning_content: 'Easy' }),
          piece({ reasoning_content: '.' }),
          piece({ content: '4' }),
          piece({}, 'stop'),
          DONE,
        ),
      },
      expected: { text: '4', reasoning: 'Easy.' },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp sends the first piece of the arguments with the name',
      source: 'https://github.com/ggml-org/llama.cpp/issues/22722',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                index: 0,
                id: 'ZdJM8VZr6Lx6pQbVmZ1k4cMZ2bVQqW0n',
                type: 'function',
                function: { name: 'get_weather', arguments: '{' },
              },
            ],
          }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '"city":"Paris"' } }] }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
          piece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp repeats the name with each piece of the arguments and keeps the id beside it',
      source: 'https://github.com/ggml-org/llama.cpp/issues/13774',
      answer: {
        body: events(
          opening,
          piece({ tool_calls: [{ index: 0, function: { id: '', name: 'final_result', arguments: '{"' } }] }),
          piece({
            tool_calls: [{ index: 0, function: { id: '', name: 'final_result', arguments: 'city":' } }],
          }),
          piece({
            tool_calls: [{ index: 0, function: { id: '', name: 'final_result', arguments: '"Paris"}' } }],
          }),
          piece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'final_result', arguments: { city: 'Paris' } }] },
      sdk: { differs: 'it joins the repeated names' },
    },
    {
      name: 'llama.cpp stops by length in the middle of the arguments where the context is full',
      source: 'https://github.com/unslothai/unsloth/pull/6164',
      answer: {
        body: events(
          opening,
          piece({
            tool_calls: [
              {
                index: 0,
                id: 'hKzT1QSeJ0bHqLrCw0Y5m2aYl3nGdX9u',
                type: 'function',
                function: { name: 'write_file', arguments: '' },
              },
            ],
          }),
          piece({ tool_calls: [{ index: 0, function: { arguments: '{"path":"a.txt","content":"On' } }] }),
          piece({}, 'length'),
          DONE,
        ),
      },
      expected: { failure: /limit|length|cut|token/i },
      sdk: { differs: 'it keeps the broken call' },
    },
    {
      name: 'llama.cpp of 2025 tells an error in a field of the event that is named error',
      source: 'https://github.com/coddy-project/coddy-agent/pull/106',
      answer: {
        body: 'error: {"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"invalid_request_error"}\n\ndata: [DONE]\n\n',
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp tells an error as data in the stream',
      source: 'https://github.com/ggml-org/llama.cpp/pull/16109',
      answer: {
        body: events({
          error: {
            code: 400,
            message:
              'the request exceeds the available context size. try increasing the context size or enable context shift',
            type: 'exceed_context_size_error',
            n_prompt_tokens: 1407,
            n_ctx: 256,
          },
        }),
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp tells with status 200 and plain JSON that the request is too long',
      source: 'https://github.com/oobabooga/textgen/issues/7257',
      answer: {
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: '{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'llama.cpp refuses with a 400 a request that is too long, with the numbers',
      source: 'https://github.com/unslothai/unsloth/pull/6164',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            code: 400,
            message: 'request (70494 tokens) exceeds the available context size (67584 tokens)',
            type: 'exceed_context_size_error',
            n_prompt_tokens: 70494,
            n_ctx: 67584,
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'llama.cpp refuses with a 500 a request that is too long',
      source: 'https://github.com/ggml-org/llama.cpp/pull/15780',
      answer: {
        status: 500,
        body: JSON.stringify({
          error: {
            code: 500,
            message:
              'the request exceeds the available context size. try increasing the context size or enable context shift',
            type: 'exceed_context_size_error',
            n_prompt_tokens: 1407,
            n_ctx: 256,
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'llama.cpp still loads the model',
      source: 'https://github.com/mostlygeek/llama-swap/issues/146',
      answer: {
        status: 503,
        body: '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
      },
      expected: { failure: /loading|later|trouble|overloaded/i },
    },
    {
      name: 'llama.cpp was started without the flag that tools need',
      source: 'https://github.com/containers/ramalama/issues/988',
      answer: {
        status: 500,
        body: JSON.stringify({
          error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' },
        }),
      },
      expected: { failure: /--jinja/i },
    },
    {
      name: 'llama.cpp sends the complaint of a chat template as a 500',
      source: 'https://github.com/nextai-translator/raycast-openai-translator/issues/34',
      answer: {
        status: 500,
        body: JSON.stringify({
          error: {
            code: 500,
            message:
              '\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n...% 2 == 0) -%}↵        {{ raise_exception("Conversation roles must alternate user...\n                                           ^\nError: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...',
            type: 'server_error',
          },
        }),
      },
      expected: { failure: /refused the request/i },
    },
  ],
};
