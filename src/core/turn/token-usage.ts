import type { TokenUsage } from './reply-parts.ts';

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0 };

/** A count that neither side tells stays untold. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const cachedTokens = addTold(one.cachedTokens, other.cachedTokens);
  const reasoningTokens = addTold(one.reasoningTokens, other.reasoningTokens);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

function addTold(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}
