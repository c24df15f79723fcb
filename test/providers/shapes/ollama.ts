import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const OPENAI_GO = 'https://github.com/ollama/ollama/blob/main/openai/openai.go';

/** A chunk as Ollama writes it: each delta repeats the role, and has a content. */
function piece(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-693',
    object: 'chat.completion.chunk',
    created: 1715427619,
    model: 'qwen3:4b',
    system_fingerprint: 'fp_ollama',
    choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason: finishReason }],
  };
}

const usagePiece = {
  id: 'chatcmpl-693',
  object: 'chat.completion.chunk',
  created: 1715427619,
  model: 'qwen3:4b',
  system_fingerprint: 'fp_ollama',
  choices: [],
  usage: { prompt_tokens: 26, completion_tokens: 8, total_tokens: 34 },
};

function fileWrite(id: string, filePath: string, content: string): object {
  return {
    tool_calls: [
      {
        id,
        index: 0,
        type: 'function',
        function: { name: 'file_write', arguments: JSON.stringify({ filePath, content }) },
      },
    ],
  };
}

export const ollamaShapes: ProviderShapes = {
  provider: 'ollama',
  api: 'chat',
  shapes: [
    {
      name: 'repeats the role in each piece and sends usage in a last piece without choices',
      source: OPENAI_GO,
      answer: {
        body: events(
          piece({ content: 'Hello' }),
          piece({ content: ' there' }),
          piece({}, 'stop'),
          usagePiece,
          DONE,
        ),
      },
      expected: { text: 'Hello there', usage: { inputTokens: 26, outputTokens: 8 } },
      sdk: 'agrees',
    },
    {
      name: 'leaves the finish reason an empty string until the end',
      source: 'https://github.com/ollama/ollama/issues/4357',
      answer: {
        body: events(
          piece({ content: ' Hello' }, ''),
          piece({ content: ' there' }, ''),
          piece({ content: '!' }, ''),
          piece({}, 'stop'),
          DONE,
        ),
      },
      expected: { text: ' Hello there!' },
      sdk: 'agrees',
    },
    {
      name: 'ends by length where max_tokens cut the reply',
      source: OPENAI_GO,
      answer: { body: events(piece({ content: 'Once upon' }), piece({}, 'length'), DONE) },
      expected: { text: 'Once upon', finishReason: 'length' },
      sdk: 'agrees',
    },
    {
      name: 'thinks in delta.reasoning beside an empty content',
      source: 'https://github.com/dirac-run/dirac/pull/227',
      answer: {
        body: events(
          piece({ reasoning: 'We' }),
          piece({ reasoning: ' need' }),
          piece({ reasoning: ' answer' }),
          piece({ content: '42' }),
          piece({}, 'stop'),
          DONE,
        ),
      },
      expected: { text: '42', reasoning: 'We need answer' },
      sdk: 'agrees',
    },
    {
      name: 'thinks and then says nothing',
      source: 'https://github.com/jeremychone/rust-genai/issues/106',
      answer: {
        body: events(piece({ reasoning: 'Count' }), piece({ reasoning: ' to 3' }), piece({}, 'stop'), DONE),
      },
      expected: { failure: /empty|nothing|no text|no answer/i },
      sdk: { differs: 'it returns a message without content' },
    },
    {
      name: 'sends a whole tool call in one piece without an index',
      source: 'https://github.com/ollama/ollama/issues/7881',
      answer: {
        body: events(
          piece({
            tool_calls: [
              {
                id: 'call_z0ivz7g8',
                type: 'function',
                function: { name: 'get_current_weather', arguments: '{"location":"Boston, MA"}' },
              },
            ],
          }),
          piece({}, 'stop'),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_current_weather', arguments: { location: 'Boston, MA' } }],
      },
      sdk: { differs: 'it files the call under the index undefined' },
    },
    {
      name: 'numbers parallel calls both 0',
      source: 'https://github.com/ollama/ollama/issues/15457',
      answer: {
        body: events(
          piece(fileWrite('abc123', 'hello.py', 'print("hello")')),
          piece(fileWrite('def456', 'world.py', 'print("world")')),
          piece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'file_write', arguments: { filePath: 'hello.py', content: 'print("hello")' } },
          { name: 'file_write', arguments: { filePath: 'world.py', content: 'print("world")' } },
        ],
      },
      sdk: { differs: 'it joins the arguments of both calls in the first one' },
    },
    {
      name: 'numbers three calls of one tool all 0',
      source: 'https://github.com/NousResearch/hermes-agent/pull/3468',
      answer: {
        body: events(
          piece(fileWrite('call_function_xxx_1', 'alpha.txt', 'a')),
          piece(fileWrite('call_function_xxx_2', 'beta.txt', 'b')),
          piece(fileWrite('call_function_xxx_3', 'gamma.txt', 'c')),
          piece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'file_write', arguments: { filePath: 'alpha.txt', content: 'a' } },
          { name: 'file_write', arguments: { filePath: 'beta.txt', content: 'b' } },
          { name: 'file_write', arguments: { filePath: 'gamma.txt', content: 'c' } },
        ],
      },
      sdk: { differs: 'it joins the arguments of all calls in the first one' },
    },
    {
      name: 'refuses a model that was not pulled, in the words that advise to pull it',
      source: 'https://github.com/netease-youdao/QAnything/issues/555',
      answer: {
        status: 404,
        body: '{"error":{"message":"model \\"ollama\\" not found, try pulling it first","type":"api_error","param":null,"code":null}}',
      },
      expected: { failure: /pull/i },
    },
    {
      name: 'refuses a model that was not pulled, in the newer words without advice',
      source: 'https://github.com/CrestApps/CrestApps.Core/issues/142',
      answer: {
        status: 404,
        body: JSON.stringify({
          error: {
            message: "model 'qwen2.5-coder' not found",
            type: 'not_found_error',
            param: null,
            code: null,
          },
        }),
      },
      expected: { failure: /model/i },
    },
    {
      name: 'refuses tools for a model without them',
      source: 'https://github.com/louisho5/picobot/issues/6',
      answer: {
        status: 400,
        body: '{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools","type":"api_error","param":null,"code":null}}',
      },
      expected: { failure: /tools/i },
    },
    {
      name: 'refuses a reasoning effort that the model does not know',
      source: 'https://github.com/ollama/ollama/issues/12561',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message: 'think value "medium" is not supported for this model',
            type: 'api_error',
            param: null,
            code: null,
          },
        }),
      },
      expected: { failure: /think|reasoning/i },
    },
    {
      name: 'tells with a 500 that its runner ended',
      source: 'https://github.com/continuedev/continue/issues/11953',
      answer: {
        status: 500,
        body: JSON.stringify({
          error: {
            message: 'llama runner process has terminated: %!w(<nil>)',
            type: 'api_error',
            param: null,
            code: null,
          },
        }),
      },
      expected: { failure: /overloaded|trouble|later|runner process/i },
    },
  ],
};
