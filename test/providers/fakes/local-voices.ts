import { DONE } from '../wire-shape.ts';
import { allNumberedZero, inPieces, oneByOne, repeating } from './call-deltas.ts';
import { type ChatHabits, chatVoice, thoughtsBesideCalls, thoughtsIn } from './chat-voice.ts';

/* How servers that people run themselves answer over chat completions. */

export const ollamaVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-693',
    object: 'chat.completion.chunk',
    created: 1_715_427_619,
    model: 'qwen3-vl',
    system_fingerprint: 'fp_ollama',
    choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason }],
  }),
  callId: (mark, place) => `call_${mark}${place}`,
  thoughts: thoughtsIn('reasoning'),
  calls: allNumberedZero,
  finishOfCalls: 'stop',
  tail: [
    { object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 26, completion_tokens: 8 } },
    DONE,
  ],
});

const LLAMA_CPP: ChatHabits = {
  chunk: (delta, finish_reason) => ({
    choices: [{ finish_reason, index: 0, delta }],
    created: 1_750_271_648,
    id: 'chatcmpl-PZ5ZD8fqMnhPYSsPlrOieSvbLMKUCe69',
    model: '',
    system_fingerprint: 'b1-a414a44',
    object: 'chat.completion.chunk',
  }),
  callId: (mark, place) => `${mark}${place}`.padEnd(32, 'ZdJM8VZr6Lx6pQbVmZ1k4cMZ2bVQqW0n'),
  opening: { role: 'assistant', content: null },
  thoughts: thoughtsIn('reasoning_content'),
  calls: (calls) => inPieces(calls),
  comment: ':\n\n',
  returned: thoughtsBesideCalls('reasoning_content'),
};

export const llamaCppVoice = chatVoice(LLAMA_CPP);

/** For models of Mistral llama.cpp makes ids as Mistral wants them, and they think little. */
export const llamaCppMistralVoice = chatVoice({
  ...LLAMA_CPP,
  callId: (mark, place) => `${place}${mark}`.padEnd(9, 'q').slice(0, 9),
});

export const vllmVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chat-2487a8a959e2480081550c5c25694def',
    object: 'chat.completion.chunk',
    created: 1_723_032_007,
    model: 'Qwen/Qwen3.5-35B',
    choices: [
      { index: 0, delta, logprobs: null, finish_reason, ...(finish_reason && { stop_reason: null }) },
    ],
    usage: { prompt_tokens: 16, total_tokens: 18, completion_tokens: 2 },
  }),
  callId: (mark, place) => `chatcmpl-tool-64aa8ec82efa4007b5fbf1${mark}${place}`,
  opening: { role: 'assistant', content: '' },
  thoughts: thoughtsIn('reasoning'),
  calls: (calls) => inPieces(calls),
  last: () => ({ content: '' }),
  returned: thoughtsBesideCalls('reasoning'),
});

export const lmStudioVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-8cybkqa7743exgha66o2hg',
    object: 'chat.completion.chunk',
    created: 1_746_707_722,
    model: 'devstral-small-2507',
    system_fingerprint: 'devstral-small-2507',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  }),
  // Digits only, and the same number of them each time.
  callId: (mark, place) => `${Number.parseInt(mark, 36) * 10 + place}`.padStart(9, '8').slice(-9),
  thoughts: thoughtsIn('reasoning_content'),
  calls: (calls) => repeating(calls, { name: '' }),
});

/** TGI counts the calls of each reply from 0, and ends calls without a finish reason. */
export const tgiVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    object: 'chat.completion.chunk',
    id: '',
    created: 1_741_688_515,
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    system_fingerprint: '3.1.2-dev0-native',
    choices: [
      {
        index: 0,
        delta: { role: 'assistant', ...delta },
        logprobs: null,
        finish_reason: finish_reason === 'stop' ? finish_reason : null,
      },
    ],
    usage: null,
  }),
  callId: (_, place) => String(place),
  calls: (calls) => inPieces(calls),
});

/** The server of MLX fills all fields of each delta, and its ids are not those that the templates of Mistral take. */
export const mlxVoice = chatVoice({
  chunk: (delta, finish_reason) => ({
    id: 'chatcmpl-6fae3479-4a30-40fc-95d3-2197bc360123',
    system_fingerprint: '0.31.3-0.31.0-macOS-15.5-arm64-arm-64bit-applegpu_g16s',
    object: 'chat.completion.chunk',
    model: 'default_model',
    created: 1_788_688_081,
    choices: [
      {
        index: 0,
        finish_reason,
        delta: { role: 'assistant', content: '', reasoning: '', tool_calls: [], ...delta },
      },
    ],
  }),
  comment: ': keepalive 2048/4096\n\n',
  callId: (mark, place) => `3f9ee602-450b-43f2-8f92-09af52${mark}${place}`,
  calls: (calls) => oneByOne(calls, ({ id }, index) => ({ type: 'function', id, index })),
});
