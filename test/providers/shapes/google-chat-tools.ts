import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** A chunk of Gemini, with its fields in Gemini's order. */
function gemini(delta: object, finishReason?: string): object {
  return {
    choices: [{ delta, ...(finishReason === undefined ? {} : { finish_reason: finishReason }), index: 0 }],
    created: 1_764_000_000,
    id: 'p5wkaR8iRpYxmfWRu0MewCG',
    model: 'gemini-3-pro-preview',
    object: 'chat.completion.chunk',
    usage: { completion_tokens: 14, prompt_tokens: 71, total_tokens: 85 },
  };
}

function calls(...toolCalls: readonly object[]): object {
  return { role: 'assistant', tool_calls: toolCalls };
}

/** A whole call; Gemini sends no index. */
function call(id: string, name: string, args: object, more: object = {}): object {
  return { ...more, function: { arguments: JSON.stringify(args), name }, id, type: 'function' };
}

function signed(signature: string): object {
  return { extra_content: { google: { thought_signature: signature } } };
}

const OSLO = { name: 'weather', arguments: { city: 'Oslo' } };
const ROME = { name: 'weather', arguments: { city: 'Rome' } };
const BERN = { name: 'weather', arguments: { city: 'Bern' } };
const USAGE = { inputTokens: 71, outputTokens: 14 };

/** How Gemini streams tool calls over OpenAI's chat completions. */
export const googleChatToolsShapes: ProviderShapes = {
  provider: 'google',
  api: 'chat',
  shapes: [
    {
      name: 'sends a whole call in one delta without an index',
      source: 'https://github.com/noho/dayu-agent/issues/45',
      answer: {
        body: events(
          gemini(calls(call('jm4owj31', 'weather', OSLO.arguments))),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO], usage: USAGE },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'signs a call in extra_content',
      source: 'https://github.com/earendil-works/pi/pull/3234',
      answer: {
        body: events(
          gemini(calls(call('kx7rwt52', 'weather', OSLO.arguments, signed('EuMBCuABAb4+9vsT4hZq')))),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO], usage: USAGE },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'sends three calls in one delta without indexes',
      source: 'https://github.com/noho/dayu-agent/issues/82',
      answer: {
        body: events(
          gemini(
            calls(
              call('b2mqzc19', 'weather', OSLO.arguments, signed('EuMBCuABAb4+9vuK7mRx')),
              call('d6nwvk84', 'weather', ROME.arguments),
              call('f9htys37', 'weather', BERN.arguments),
            ),
          ),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO, ROME, BERN], usage: USAGE },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'sends each call in its own chunk and signs the first only',
      source: 'https://github.com/noho/dayu-agent/issues/82',
      answer: {
        body: events(
          gemini(calls(call('c3pdxe20', 'weather', OSLO.arguments, signed('EuMBCuABAb4+9vwQ2kLv')))),
          gemini(calls(call('g7sfzh46', 'weather', ROME.arguments))),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO, ROME], usage: USAGE },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'numbers parallel calls both 0',
      source: 'https://github.com/NousResearch/hermes-agent/issues/62937',
      answer: {
        body: events(
          gemini(calls({ index: 0, ...call('h8tgai57', 'weather', OSLO.arguments) })),
          gemini(calls({ index: 0, ...call('j9vhbk68', 'weather', ROME.arguments) })),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO, ROME], usage: USAGE },
      sdk: { differs: 'The SDK joins both calls into one.' },
    },
    {
      name: 'finishes its calls with stop',
      source: 'https://github.com/googleapis/python-genai/issues/2868',
      answer: {
        body: events(
          gemini(calls({ index: 0, ...call('k0wjcm79', 'weather', OSLO.arguments) })),
          gemini({ role: 'assistant' }, 'stop'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO], usage: USAGE },
      sdk: 'agrees',
    },
    {
      name: 'splits the arguments over deltas without indexes',
      source: 'https://github.com/open-webui/computer/issues/224',
      answer: {
        body: events(
          gemini(
            calls({
              function: { arguments: '{"city": ', name: 'weather' },
              id: 'l1xkdn80',
              type: 'function',
            }),
          ),
          gemini(calls({ function: { arguments: '"Os' } })),
          gemini(calls({ function: { arguments: 'lo"}' } })),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO], usage: USAGE },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'signs a call in the name of Vertex',
      source: 'https://github.com/earendil-works/pi/issues/6733',
      answer: {
        body: events(
          gemini(
            calls(
              call('m2ylep91', 'weather', OSLO.arguments, {
                extra_content: { vertex: { thought_signature: 'EuMBCuABAb4+9vxW5nTy' } },
              }),
            ),
          ),
          gemini({ role: 'assistant' }, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [OSLO], usage: USAGE },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'sends content as parts and names each call after its tool',
      source: 'https://discuss.ai.google.dev/t/openai-compatibility-bug-in-response-object/58484',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          choices: [
            {
              finish_reason: 'tool_calls',
              index: 0,
              logprobs: null,
              message: {
                content: [
                  { text: '\n', type: 'text' },
                  { text: '\n', type: 'text' },
                ],
                role: 'assistant',
                tool_calls: [
                  {
                    function: { arguments: '{"left":2,"right":2}', name: 'add' },
                    id: 'add',
                    type: 'function',
                  },
                  {
                    function: { arguments: '{"left":3,"right":5}', name: 'add' },
                    id: 'add',
                    type: 'function',
                  },
                ],
              },
            },
          ],
          created: 1735000000,
          id: '2024-12-23|12:26:40.000000-08|0.0.0.0|0',
          model: 'google/gemini-2.0-flash-exp',
          object: 'chat.completion',
          system_fingerprint: '',
          usage: { completion_tokens: 12, prompt_tokens: 60, total_tokens: 72 },
        }),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'add', arguments: { left: 2, right: 2 } },
          { name: 'add', arguments: { left: 3, right: 5 } },
        ],
        usage: { inputTokens: 60, outputTokens: 12 },
      },
      sdk: { differs: 'The SDK finds no event in the body.' },
    },
  ],
};
