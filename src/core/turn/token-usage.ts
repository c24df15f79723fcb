import type { TokenUsage } from './reply-parts.ts';

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0 };

/** Adds two usages. An optional count that both lack stays absent. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const cachedTokens = addOptional(one.cachedTokens, other.cachedTokens);
  const reasoningTokens = addOptional(one.reasoningTokens, other.reasoningTokens);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

function addOptional(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}
