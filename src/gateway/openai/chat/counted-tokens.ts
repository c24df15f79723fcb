import type { SessionEventOf } from '../../../core/log/events.ts';

/** Tokens as chat completions count them. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

/** The tokens of the model calls of a turn. */
export class CountedTokens {
  #input = 0;
  #output = 0;
  #cached = 0;
  #reasoning = 0;
  #isKnown = false;

  add({ usage }: SessionEventOf<'step.completed'>): void {
    if (!usage) return;
    this.#isKnown = true;
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#cached += usage.cachedTokens ?? 0;
    this.#reasoning += usage.reasoningTokens ?? 0;
  }

  /** Null if the provider has told nothing. */
  get usage(): ChatUsage | null {
    if (!this.#isKnown) return null;
    return {
      prompt_tokens: this.#input,
      completion_tokens: this.#output,
      total_tokens: this.#input + this.#output,
      prompt_tokens_details: { cached_tokens: this.#cached },
      completion_tokens_details: { reasoning_tokens: this.#reasoning },
    };
  }
}
