import { DONE } from '../wire-shape.ts';
import { inPieces, oneByOne, together, whole } from './call-deltas.ts';
import { chatVoice, thoughtsBesideCalls, thoughtsIn } from './chat-voice.ts';

/* How services answer over chat completions; `test/providers/shapes` has the recordings that these follow. */

export const openaiVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-E4Rjs6IxaJVge9Ntk5keJsaeDy6vS',
    object: 'chat.completion.chunk',
    created: 1_784_728_648,
    model: 'gpt-5.6',
    service_tier: 'default',
    system_fingerprint: null,
    choices: [{ index: 0, delta, finish_reason }],
    usage: null,
    obfuscation: 'EeXxvZr',
  }),
  callId: (mark, place) => `call_${mark}4Lhq7hXzlGBLtUe9dy3G${place}`,
  opening: { role: 'assistant', content: '', refusal: null },
  calls: (calls) => inPieces(calls),
  tail: [{ choices: [], usage: { prompt_tokens: 13, completion_tokens: 11, total_tokens: 24 } }, DONE],
});

export const xaiVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'de9d896d-e946-b3a7-bb14-75ab33326930',
    object: 'chat.completion.chunk',
    created: 1_770_774_058,
    model: 'grok-4',
    choices: [{ index: 0, delta, ...(finish_reason && { finish_reason }) }],
    system_fingerprint: 'fp_2a885414fb',
  }),
  callId: (mark, place) => `call_${mark}${place}`,
  thoughts: thoughtsIn('reasoning_content', { role: 'assistant' }),
  calls: whole,
});

export const deepSeekVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: '6e77be01-935b-42f6-8b05-d6c763528589',
    object: 'chat.completion.chunk',
    created: 1_786_782_779,
    model: 'deepseek-v4-flash',
    system_fingerprint: 'a26a7955944dc5c60445bff77fac9c8e',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
  }),
  callId: (mark, place) => `call_0${place}_IhCAliIHtM9gKpgfqb${mark}`,
  opening: { role: 'assistant', content: null, reasoning_content: '' },
  thoughts: thoughtsIn('reasoning_content', { content: null }),
  calls: (calls) => inPieces(calls),
  last: () => ({ content: '', reasoning_content: null }),
  returned: ({ reasoning }) => (reasoning === '' ? [] : [{ reasoning_content: reasoning }]),
});

/** Its content is a list of parts while it thinks, and its ids are nine letters and digits. */
export const mistralVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'b5810ef13dbb4811a20d34e1393d8431',
    object: 'chat.completion.chunk',
    created: 1_787_865_810,
    model: 'magistral-medium-latest',
    choices: [{ index: 0, delta, finish_reason }],
    p: 'abcdef',
  }),
  callId: (mark, place) => `${place}${mark}`.padEnd(9, 'J').slice(0, 9),
  opening: { role: 'assistant', content: '' },
  thoughts: (pieces) =>
    pieces.map((text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })),
  texts: ([first = '', ...others], { reasoning }) => [
    { content: reasoning === '' ? first : [{ type: 'text', text: first }] },
    ...others.map((content) => ({ content })),
  ],
  calls: (calls) => [{ content: null, ...together(calls) }],
});

export const groqVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-e35442a8-12c0-4fb4-8be4-0e51727ce7b7',
    object: 'chat.completion.chunk',
    created: 1_771_434_740,
    model: 'openai/gpt-oss-120b',
    system_fingerprint: 'fp_caa2017b29',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  }),
  callId: (mark, place) => `fc_bfb39741-3748-4def-9886-${mark}${place}`,
  opening: { role: 'assistant', content: '' },
  thoughts: thoughtsIn('reasoning', { channel: 'analysis' }),
  calls: whole,
});

export const cerebrasVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659',
    choices: [{ delta, ...(finish_reason && { finish_reason }), index: 0 }],
    created: 1_779_147_581,
    model: 'zai-glm-4.7',
    system_fingerprint: 'fp_a33c042689e969567008',
    object: 'chat.completion.chunk',
  }),
  callId: (mark, place) => `b${mark}${place}`,
  opening: { role: 'assistant' },
  thoughts: thoughtsIn('reasoning'),
  calls: (calls) => oneByOne(calls, ({ id }, index) => ({ type: 'function', id, index })),
  returned: thoughtsBesideCalls('reasoning'),
});

/** Claude behind OpenRouter: it says each thought twice, and signs the second form, which has to come back. */
export const openRouterVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'gen-1765226419-AGrwjunAftQIAgweibL8',
    provider: 'Google',
    model: 'anthropic/claude-sonnet-4.5',
    object: 'chat.completion.chunk',
    created: 1_765_226_419,
    choices: [
      {
        index: 0,
        delta: { role: 'assistant', content: '', ...delta },
        finish_reason,
        native_finish_reason: finish_reason,
        logprobs: null,
      },
    ],
  }),
  comment: ': OPENROUTER PROCESSING\n\n',
  callId: (mark, place) => `toolu_vrtx_01${mark}${place}`,
  thoughts: (pieces, mark) => [
    ...pieces.map((text) => ({ reasoning: text, reasoning_details: [routedThought({ text })] })),
    { reasoning: null, reasoning_details: [routedThought({ signature: `Et0BCkgI${mark}+/=` })] },
  ],
  calls: (calls) => inPieces(calls),
  returned: ({ reasoning }, mark) =>
    reasoning === ''
      ? []
      : [{ reasoning_details: [routedThought({ text: reasoning, signature: `Et0BCkgI${mark}+/=` })] }],
});

/** Gemini behind OpenRouter: it signs its first call in a detail of the message. */
export const openRouterGeminiVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'gen-1764086691-KdQ2',
    provider: 'Google AI Studio',
    model: 'google/gemini-3-pro-preview',
    object: 'chat.completion.chunk',
    created: 1_764_086_691,
    choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason }],
  }),
  comment: ': OPENROUTER PROCESSING\n\n',
  callId: (mark, place) => `tool_0_${mark}${place}`,
  calls: (calls, mark) => [
    ...inPieces(calls),
    { reasoning_details: calls.slice(0, 1).map(({ id }) => signedCall(id, mark)) },
  ],
  returned: ({ calls }, mark) =>
    calls.length === 0 ? [] : [{ reasoning_details: [signedCall(`tool_0_${mark}0`, mark)] }],
});

function signedCall(id: string, mark: string): object {
  return { type: 'reasoning.encrypted', data: `EqkG${mark}+/=`, id, format: 'google-gemini-v1', index: 0 };
}

/** DeepSeek and Kimi behind OpenRouter sign nothing, and want each thought back under the name that it has at home. */
export const openRouterUnsignedVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'gen-1779960000-Yh2mWq8',
    provider: 'DeepSeek',
    model: 'deepseek/deepseek-v4-flash',
    object: 'chat.completion.chunk',
    created: 1_779_960_000,
    choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason }],
  }),
  comment: ': OPENROUTER PROCESSING\n\n',
  callId: (mark, place) => `call_0${place}_${mark}`,
  thoughts: (pieces) =>
    pieces.map((text) => ({ reasoning: text, reasoning_details: [unsignedThought(text)] })),
  calls: (calls) => inPieces(calls),
  returned: ({ reasoning, calls }) => {
    if (reasoning === '') return [];
    const details = { reasoning_details: [unsignedThought(reasoning)] };
    return [calls.length === 0 ? details : { ...details, reasoning_content: reasoning }];
  },
});

function unsignedThought(text: string): object {
  return { type: 'reasoning.text', text, format: 'unknown', index: 0 };
}

function routedThought(more: object): object {
  return { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, ...more };
}

/** It searches the web instead of calling tools. */
export const perplexityVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'sanitized-live-stream-response',
    model: 'sonar',
    created: 1_788_310_800,
    usage: { completion_tokens: 1, prompt_tokens: 6, search_context_size: 'low', total_tokens: 7 },
    object: finish_reason === null ? 'chat.completion.chunk' : 'chat.completion.done',
    choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason }],
  }),
  callId: (mark) => mark,
  calls: () => [],
});
