import { z } from 'zod';
import type { TokenUsage } from '../../../core/turn/reply-parts.ts';

const count = z.int().min(0);

/** Tokens as the Responses API counts them. */
export const ResponseUsage = z.object({
  input_tokens: count,
  input_tokens_details: z.object({
    cached_tokens: count,
    cache_write_tokens: count.describe('Always 0: the service does not count them.'),
  }),
  output_tokens: count,
  output_tokens_details: z.object({ reasoning_tokens: count }),
  total_tokens: count,
});
export type ResponseUsage = z.infer<typeof ResponseUsage>;

/** @param sum null before the first call of a model whose provider tells its tokens. */
export function withUsage(sum: ResponseUsage | null, usage: TokenUsage | undefined): ResponseUsage | null {
  if (!usage) return sum;
  const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
  const input = (sum?.input_tokens ?? 0) + inputTokens;
  const output = (sum?.output_tokens ?? 0) + outputTokens;
  const cached = (sum?.input_tokens_details.cached_tokens ?? 0) + cachedTokens;
  const reasoning = (sum?.output_tokens_details.reasoning_tokens ?? 0) + reasoningTokens;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
