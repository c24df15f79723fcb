import { GEMINI_CALL } from '../rules/litellm.ts';
import { chunk } from '../wire-shape.ts';
import { inPieces, namesFirst, repeating, whole } from './call-deltas.ts';
import type { ChatHabits } from './chat-voice.ts';
import { chatVoice, thoughtsBesideCalls, thoughtsIn } from './chat-voice.ts';

/* How other services, of the provider `openai-compatible`, answer over chat completions. */

export const moonshotVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-6a8de8b0aa0c275363b2fc8a',
    object: 'chat.completion.chunk',
    created: 1_787_685_040,
    model: 'kimi-k2.5',
    choices: [
      {
        index: 0,
        delta,
        finish_reason,
        ...(finish_reason && { usage: { prompt_tokens: 61, completion_tokens: 25, total_tokens: 86 } }),
      },
    ],
    system_fingerprint: 'fpv0_1c3effa9',
  }),
  callId: (mark, place) => `functions.${mark}:${place}`,
  opening: { role: 'assistant', content: '' },
  thoughts: thoughtsIn('reasoning_content'),
  calls: namesFirst,
  returned: thoughtsBesideCalls('reasoning_content'),
});

export const qwenVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    choices: [{ delta, finish_reason, index: 0, logprobs: null }],
    object: 'chat.completion.chunk',
    usage: null,
    created: 1_770_764_938,
    system_fingerprint: null,
    model: 'qwen3.5-plus',
    id: 'chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368',
  }),
  callId: (mark, place) => `call_eee11723464a4b9eb8${mark}${place}`,
  opening: { content: null, reasoning_content: '', role: 'assistant' },
  thoughts: thoughtsIn('reasoning_content', { content: null }),
  calls: (calls) => repeating(calls, { id: '' }),
  returned: thoughtsBesideCalls('reasoning_content'),
});

/** It wants its thoughts back as it sent them, piece by piece, in one detail. */
export const miniMaxVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    choices: [{ index: 0, ...(finish_reason && { finish_reason }), delta }],
    created: 1_771_279_826,
    object: 'chat.completion.chunk',
    usage: { total_tokens: 0, total_characters: 0 },
    input_sensitive: false,
    output_sensitive: false,
  }),
  callId: (mark, place) => `call_function_${mark}_${place}`,
  thoughts: (pieces) =>
    pieces.map((text) => ({ role: 'assistant', content: '', reasoning_details: [miniMaxThought(text)] })),
  calls: whole,
  returned: ({ reasoning }) => (reasoning === '' ? [] : [{ reasoning_details: [miniMaxThought(reasoning)] }]),
});

function miniMaxThought(text: string): object {
  return { type: 'reasoning.text', text };
}

/** A service that does as OpenAI did in 2024. */
const PLAIN: ChatHabits = {
  chunk: (delta, finishReason) => chunk(delta, finishReason),
  callId: (mark, place) => `call_${mark}Yz9vXq0TbNpR${place}`,
  opening: { role: 'assistant', content: '' },
  calls: (calls) => inPieces(calls),
};

export const plainVoice = chatVoice(PLAIN);

/** `reasoning_content` is what most services call it. */
export const plainThinkingVoice = chatVoice({
  ...PLAIN,
  thoughts: thoughtsIn('reasoning_content'),
  returned: thoughtsBesideCalls('reasoning_content'),
});

/** Thoughts between tags in the content, as servers stream what a model writes when nobody tells them apart. */
export const taggedVoice = chatVoice({
  ...PLAIN,
  thoughts: ([first = '', ...others]) =>
    [`<think>\n${first}`, ...others, '\n</think>\n\n'].map((content) => ({ content })),
});

/** Claude behind LiteLLM: each piece of a thought comes twice, and its signature behind the last of them. */
export const liteLlmVoice = chatVoice({
  ...PLAIN,
  callId: (mark, place) => `toolu_01${mark}KvPz7sHgXt3Qn${place}`,
  thoughts: (pieces, mark) => [
    ...pieces.map((piece) => ({ reasoning_content: piece, thinking_blocks: [signedThought(piece, null)] })),
    { reasoning_content: '', thinking_blocks: [signedThought('', signatureOf(mark))] },
  ],
  returned: ({ reasoning }, mark) =>
    reasoning === '' ? [] : [{ thinking_blocks: [signedThought(reasoning, signatureOf(mark))] }],
});

function signedThought(thinking: string, signature: string | null): object {
  return { type: 'thinking', thinking, signature };
}

function signatureOf(mark: string): string {
  return `EqkBCkYICxgC${mark}Kkr3nQ2+/==`;
}

/** Gemini behind LiteLLM: a call is signed in its id. */
export const liteLlmGeminiVoice = chatVoice({
  ...PLAIN,
  callId: (mark, place) => `${GEMINI_CALL}${mark}${place}__thought__${'Eqk+/'.repeat(40)}==`,
  thoughts: thoughtsIn('reasoning_content'),
});
