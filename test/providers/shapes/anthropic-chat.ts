import { chunk, DONE, events, type ProviderShapes } from '../wire-shape.ts';

const SDK_ISSUES = 'https://github.com/anthropics/anthropic-sdk-typescript/issues';
const FALLBACK =
  'https://github.com/vercel/ai/blob/main/packages/openai-compatible/src/chat/__fixtures__/anthropic-fallback-tool-call.sse';

/** A chunk of Claude; its id is the one of a message. */
function claude(delta: object, finishReason: string | null = null): object {
  return chunk(delta, finishReason, { id: 'msg_01RzQk6wHdXs8VtNb3LcYgPm', model: 'claude-sonnet-4-5' });
}

/** How Anthropic answers over OpenAI's chat completions. */
export const anthropicChatShapes: ProviderShapes = {
  provider: 'anthropic',
  api: 'chat',
  shapes: [
    {
      name: 'sends a ping as an unnamed event between its chunks',
      source: `${SDK_ISSUES}/734`,
      answer: {
        body: [
          events(claude({ role: 'assistant', content: 'Good' })),
          'data: {"type": "ping"}\n\n',
          events(claude({ content: ' morning!' }), claude({}, 'stop'), DONE),
        ],
      },
      expected: { text: 'Good morning!' },
      sdk: { differs: 'The SDK throws on an object without choices.' },
    },
    {
      name: 'begins the indexes of its tool calls with 1 after text',
      source: FALLBACK,
      answer: {
        body: events(
          claude({ role: 'assistant', content: 'Let me look.' }),
          claude({
            tool_calls: [
              {
                index: 1,
                id: 'toolu_01HxPq7cTgVs4WzKn9RbLdYf',
                type: 'function',
                function: { name: 'weather', arguments: '' },
              },
            ],
          }),
          claude({ tool_calls: [{ index: 1, function: { arguments: '' } }] }),
          claude({ tool_calls: [{ index: 1, function: { arguments: '{"city": "O' } }] }),
          claude({ tool_calls: [{ index: 1, function: { arguments: 'slo"}' } }] }),
          claude({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: {
        text: 'Let me look.',
        toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
      },
      sdk: { differs: 'The SDK throws when no tool call has the index 0.' },
    },
    {
      name: 'breaks down in the middle of its text',
      source: `${SDK_ISSUES}/711`,
      answer: {
        body: events(claude({ role: 'assistant', content: 'The first half' }), {
          error: {
            code: 'api_error',
            message: 'Internal server error',
            param: null,
            type: 'invalid_request_error',
          },
        }),
      },
      expected: { failure: /overloaded|trouble|later/i, text: 'The first half' },
      sdk: 'agrees',
    },
  ],
};
