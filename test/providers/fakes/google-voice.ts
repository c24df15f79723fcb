import type { JsonObject } from '../rules/body-fields.ts';
import { chatVoice } from './chat-voice.ts';
import { halves } from './voice.ts';

/**
 * Gemini over chat completions: thoughts are content between marks, calls come whole and without an index, and what has
 * to come back is a signature, of the first call or of the message.
 */
export const googleVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    choices: [{ delta: { ...delta, role: 'assistant' }, ...(finish_reason && { finish_reason }), index: 0 }],
    created: 1_764_000_000,
    id: 'p5wkaR8iRpYxmfWRu0MewCG',
    model: 'gemini-3-pro-preview',
    object: 'chat.completion.chunk',
    usage: { completion_tokens: 14, prompt_tokens: 71, total_tokens: 85 },
  }),
  callId: (mark, place) => `${mark}${place}`,
  thoughts: ([first = '', ...others]) =>
    [`<thought>${first}`, ...others].map((content) => ({ content, extra_content: THOUGHT })),
  texts: (_, { reasoning, text }) => {
    const [first, second] = halves(text);
    const end = reasoning === '' ? {} : { extra_content: null };
    return [{ content: `${reasoning === '' ? '' : '</thought>'}${first}`, ...end }, { content: second }];
  },
  calls: (calls, mark) =>
    calls.map(({ id, name, arguments: args }, place) => ({
      tool_calls: [
        {
          ...(place === 0 && signed(mark)),
          function: { arguments: JSON.stringify(args), name },
          id,
          type: 'function',
        },
      ],
    })),
  last: ({ calls }, mark) => (calls.length > 0 ? {} : { content: null, ...signed(mark) }),
  returned: (_, mark) => [signed(mark)],
});

const THOUGHT = { google: { thought: true } };

function signed(mark: string): JsonObject {
  return { extra_content: { google: { thought_signature: `EuMBCuABAb4+${mark}9v/==` } } };
}
