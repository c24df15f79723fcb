/* Chat completions of other providers than OpenAI. Fields and their order are those of test/providers/shapes. */
import { padding } from './chat-reply.ts';

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

const CHUNKS_PER_SECOND = 7;

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
    created: 1_764_000_000 + Math.floor(index / CHUNKS_PER_SECOND),
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

/** Ollama, which is written in Go: each chunk has the role and its time. Everything that may be escaped is. */
export function ollamaEvents(pieces: readonly string[]): string[] {
  return [
    ...pieces.map((content, index) => ollamaEvent(content, null, index)),
    ollamaEvent('', 'stop', pieces.length) + DONE,
  ];
}

function ollamaEvent(content: string, finishReason: string | null, index: number): string {
  const chunk = {
    id: 'chatcmpl-693',
    object: 'chat.completion.chunk',
    created: 1_760_000_000 + Math.floor(index / CHUNKS_PER_SECOND),
    model: 'qwen3-coder:30b',
    system_fingerprint: 'fp_ollama',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finishReason }],
  };
  return `data: ${escaped(JSON.stringify(chunk))}\n\n`;
}

/** A gateway that gives each chunk an id of its own, and the time at which it passed on the chunk. */
export function gatewayEvents(pieces: readonly string[]): string[] {
  return [
    gatewayEvent({ role: 'assistant', content: '' }, null, 0),
    ...pieces.map((content, index) => gatewayEvent({ content }, null, index + 1)),
    gatewayEvent({}, 'stop', pieces.length + 1) + DONE,
  ];
}

function gatewayEvent(delta: object, finishReason: string | null, index: number): string {
  return event({
    id: `chatcmpl-${(index + 1).toString(36)}${padding(index)}`,
    object: 'chat.completion.chunk',
    created: 1_760_000_000 + index,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

/** As Go escapes it (the characters of HTML) and as Python does (all that is not ASCII). */
export function escaped(json: string): string {
  return json.replace(
    /[<>&\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
