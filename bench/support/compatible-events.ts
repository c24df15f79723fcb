/* Chat completions of other providers than OpenAI. Fields and their order are those of test/providers/shapes. */

const PROMPT_TOKENS = 16;
const DONE = 'data: [DONE]\n\n';

/**
 * vLLM: no padding, and each chunk has the token counts so far. Source:
 * https://github.com/vllm-project/vllm/issues/7262
 */
export function vllmEvents(pieces: readonly string[]): string[] {
  return [
    vllmEvent([vllmChoice({ role: 'assistant', content: '' })], 0),
    ...pieces.map((content, index) => vllmEvent([vllmChoice({ content })], index + 1)),
    vllmEvent([{ ...vllmChoice({ content: '' }, 'stop'), stop_reason: null }], pieces.length) +
      vllmEvent([], pieces.length) +
      DONE,
  ];
}

function vllmChoice(delta: object, finishReason: string | null = null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason };
}

function vllmEvent(choices: readonly object[], completionTokens: number): string {
  return event({
    id: 'chat-2487a8a959e2480081550c5c25694def',
    object: 'chat.completion.chunk',
    created: 1_723_032_007,
    model: 'meta-llama/Meta-Llama-3-8B-Instruct',
    choices,
    usage: {
      prompt_tokens: PROMPT_TOKENS,
      total_tokens: PROMPT_TOKENS + completionTokens,
      completion_tokens: completionTokens,
    },
  });
}

const GEMINI_CHUNKS_PER_SECOND = 7;

/** Gemini: each chunk has the role, the token counts and its time. Source: https://github.com/ogx-ai/ogx/issues/5122 */
export function geminiEvents(pieces: readonly string[]): string[] {
  return [
    ...pieces.map((content, index) => geminiEvent({ delta: { content, role: 'assistant' } }, index)),
    geminiEvent({ delta: { content: null, role: 'assistant' }, finish_reason: 'stop' }, pieces.length) + DONE,
  ];
}

function geminiEvent(choice: object, index: number): string {
  const completionTokens = index + 1;
  return event({
    choices: [{ ...choice, index: 0 }],
    created: 1_764_000_000 + Math.floor(index / GEMINI_CHUNKS_PER_SECOND),
    id: 'kXwkabHzLsKvqtsPm9eR6QU',
    model: 'gemini-3-flash-preview',
    object: 'chat.completion.chunk',
    usage: {
      completion_tokens: completionTokens,
      prompt_tokens: PROMPT_TOKENS,
      total_tokens: PROMPT_TOKENS + completionTokens,
    },
  });
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
