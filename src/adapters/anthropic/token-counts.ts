import { isJsonObject } from '../../core/json-object.ts';
import type { TokenUsage } from '../../core/turn/reply-parts.ts';
import { countIn, objectIn } from '../../model-http/reply/json.ts';

/** The tokens of a message. Each report holds the sums so far; unknown sums are missing or null. */
export class TokenCounts {
  #input: number | undefined;
  #written: number | undefined;
  #cached: number | undefined;
  #output: number | undefined;
  #reasoning: number | undefined;

  report(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    this.#input = countIn(usage.input_tokens) ?? this.#input;
    this.#written = countIn(usage.cache_creation_input_tokens) ?? this.#written;
    this.#cached = countIn(usage.cache_read_input_tokens) ?? this.#cached;
    this.#output = countIn(usage.output_tokens) ?? this.#output;
    this.#reasoning = countIn(objectIn(usage.output_tokens_details).thinking_tokens) ?? this.#reasoning;
  }

  /** `input_tokens` does not include the tokens read from or written to the cache. */
  get usage(): TokenUsage | undefined {
    if (this.#input === undefined || this.#output === undefined) return undefined;
    return {
      inputTokens: this.#input + (this.#written ?? 0) + (this.#cached ?? 0),
      outputTokens: this.#output,
      ...(this.#cached !== undefined && { cachedTokens: this.#cached }),
      ...(this.#reasoning !== undefined && { reasoningTokens: this.#reasoning }),
    };
  }
}
