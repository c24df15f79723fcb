import { chunk, DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** A chunk with one piece of a call, exactly as given. */
function callPiece(call: object): object {
  return chunk({ tool_calls: [call] });
}

const ending = chunk({}, 'tool_calls');

export const openaiCompatibleToolsShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'streams the arguments as an object',
      source: 'https://github.com/can1357/oh-my-pi/pull/1779',
      answer: {
        body: events(
          callPiece({
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'bash', arguments: { command: "printf '%s\\n' ok" } },
          }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'bash', arguments: { command: "printf '%s\\n' ok" } }] },
      sdk: { differs: 'it joins objects as if they were text' },
    },
    {
      name: 'answers with one JSON object and the arguments as an object in it',
      source: 'https://github.com/ggml-org/llama.cpp/issues/20198',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'chatcmpl-123',
          object: 'chat.completion',
          created: 1760000000,
          model: 'model',
          choices: [
            {
              index: 0,
              message: {
                role: 'assistant',
                content: '',
                tool_calls: [
                  {
                    id: 'call_1',
                    type: 'function',
                    function: { name: 'get_weather', arguments: { city: 'Paris' } },
                  },
                ],
              },
              finish_reason: 'tool_calls',
            },
          ],
        }),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
      sdk: { differs: 'it looks for events and finds none' },
    },
    {
      name: 'gives a call a number for an id',
      source: 'https://github.com/anomalyco/opencode/issues/19947',
      answer: {
        body: events(
          callPiece({ index: 0, id: 123, type: 'function', function: { name: 'read', arguments: '' } }),
          callPiece({ index: 0, function: { arguments: '{"path":"a.txt"}' } }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'read', arguments: { path: 'a.txt' } }] },
      sdk: 'agrees',
    },
    {
      name: 'gives a call no id',
      source: 'https://github.com/anomalyco/opencode/pull/25925',
      answer: {
        body: events(
          callPiece({ index: 0, type: 'function', function: { name: 'read', arguments: '' } }),
          callPiece({ index: 0, function: { arguments: '{"path":"a.txt"}' } }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'read', arguments: { path: 'a.txt' } }] },
      sdk: 'agrees',
    },
    {
      name: 'gives two calls the id null in letters',
      source: 'https://github.com/mistralai/client-js/issues/69',
      answer: {
        body: events(
          chunk({
            role: 'assistant',
            content: '',
            tool_calls: [
              { id: 'null', function: { name: 'get_weather', arguments: '{"city": "Paris"}' } },
              { id: 'null', function: { name: 'get_weather', arguments: '{"city": "Rome"}' } },
            ],
          }),
          ending,
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'get_weather', arguments: { city: 'Paris' } },
          { name: 'get_weather', arguments: { city: 'Rome' } },
        ],
      },
      sdk: { differs: 'it keeps a call without an index outside of the list' },
    },
    {
      name: 'sends the pieces of a call without an index',
      source: 'https://github.com/chatanywhere/GPT_API_free/issues/254',
      answer: {
        body: events(
          callPiece({ id: 'call_1', type: 'function', function: { name: 'squareRoot', arguments: '' } }),
          callPiece({ function: { arguments: '{"n":' } }),
          callPiece({ function: { arguments: '16}' } }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'squareRoot', arguments: { n: 16 } }] },
      sdk: { differs: 'it keeps a call without an index outside of the list' },
    },
    {
      name: 'sends the pieces of two calls without an index, and each call begins with its name',
      source: 'https://github.com/SamSaffron/term-llm/pull/314',
      answer: {
        body: events(
          callPiece({ id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }),
          callPiece({ function: { arguments: '{"path":"a.txt"}' } }),
          callPiece({ id: 'call_2', type: 'function', function: { name: 'read', arguments: '' } }),
          callPiece({ function: { arguments: '{"path":"b.txt"}' } }),
          ending,
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'read', arguments: { path: 'a.txt' } },
          { name: 'read', arguments: { path: 'b.txt' } },
        ],
      },
      sdk: { differs: 'it keeps calls without an index outside of the list' },
    },
    {
      name: 'writes the namespace of gpt-oss before the name',
      source: 'https://github.com/tontinton/maki/pull/518',
      answer: {
        body: events(
          callPiece({
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'functions.read', arguments: '{"path":"a.txt"}' },
          }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'read', arguments: { path: 'a.txt' } }] },
      sdk: { differs: 'it keeps the name as it was sent' },
    },
    {
      name: 'numbers the calls from 1',
      source: 'https://github.com/BerriAI/litellm/issues/32759',
      answer: {
        body: events(
          callPiece({
            index: 1,
            id: 'call_1',
            type: 'function',
            function: { name: 'read', arguments: '{"path":"a.txt"}' },
          }),
          callPiece({
            index: 2,
            id: 'call_2',
            type: 'function',
            function: { name: 'read', arguments: '{"path":"b.txt"}' },
          }),
          ending,
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'read', arguments: { path: 'a.txt' } },
          { name: 'read', arguments: { path: 'b.txt' } },
        ],
      },
      sdk: { differs: 'it leaves a hole in the list of calls' },
    },
    {
      name: 'gives the later pieces of a call an empty id and an empty name',
      source: 'https://github.com/anomalyco/opencode/issues/37841',
      answer: {
        body: events(
          callPiece({
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'calculator', arguments: '' },
          }),
          callPiece({
            index: 0,
            id: '',
            type: 'function',
            function: { name: '', arguments: '{"expression": "2' },
          }),
          callPiece({ index: 0, id: '', type: 'function', function: { name: '', arguments: '+2"}' } }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'calculator', arguments: { expression: '2+2' } }] },
      sdk: 'agrees',
    },
    {
      name: 'repeats a call under its id and the next index',
      source: 'https://github.com/QuantumNous/new-api/issues/6278',
      answer: {
        body: events(
          callPiece({ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }),
          callPiece({ index: 0, function: { arguments: '{"path":"a.txt"}' } }),
          callPiece({
            index: 1,
            id: 'call_1',
            type: 'function',
            function: { name: 'read', arguments: '{"path":"a.txt"}' },
          }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'read', arguments: { path: 'a.txt' } }] },
      sdk: { differs: 'it takes the repeated call for another one' },
    },
    {
      name: 'repeats a call at the end, with its arguments encoded twice',
      source: 'https://github.com/BerriAI/litellm/issues/20480',
      answer: {
        body: events(
          callPiece({
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'search', arguments: '{"qu' },
          }),
          callPiece({ index: 0, id: 'call_1', type: 'function', function: { arguments: 'ery":' } }),
          callPiece({ index: 0, id: 'call_1', type: 'function', function: { arguments: '"hello"}' } }),
          callPiece({
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'search', arguments: '"{\\"query\\":\\"hello\\"}"' },
          }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'search', arguments: { query: 'hello' } }] },
      sdk: { differs: 'it appends the repeated arguments' },
    },
    {
      name: 'repeats the arguments of a call',
      source: 'https://github.com/lidge-jun/opencodex/issues/361',
      answer: {
        body: events(
          callPiece({ index: 0, id: 'tool_1', type: 'function', function: { name: 'shell', arguments: '' } }),
          callPiece({ index: 0, function: { arguments: '{"command":"ls"}' } }),
          callPiece({ index: 0, function: { arguments: '{"command":"ls"}' } }),
          ending,
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'shell', arguments: { command: 'ls' } }] },
      sdk: { differs: 'it appends the repeated arguments' },
    },
  ],
};
