import { z } from 'zod';
import type { SessionEventOf } from '../../../core/log/events.ts';

const count = z.int().min(0);

/** Tokens as chat completions count them. */
export const ChatUsage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }),
  completion_tokens_details: z.object({ reasoning_tokens: count }),
});
export type ChatUsage = z.infer<typeof ChatUsage>;

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
