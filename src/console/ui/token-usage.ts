import type { TokenUsage } from '../../core/turn/reply-parts.ts';

/** Such as `1,204 tokens in (1,024 cached), 350 out (210 reasoning)`. */
export function usageText({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: TokenUsage): string {
  const into = `${count(inputTokens)} tokens in${part(cachedTokens, 'cached')}`;
  return `${into}, ${count(outputTokens)} out${part(reasoningTokens, 'reasoning')}`;
}

/** The sum over model calls, or null without any. A count that a call does not report is 0. */
export function totalUsage(usages: readonly TokenUsage[]): TokenUsage | null {
  if (usages.length === 0) return null;
  const sum = (read: (usage: TokenUsage) => number | undefined): number =>
    usages.reduce((total, usage) => total + (read(usage) ?? 0), 0);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
  };
}

/** Unknown and zero counts are not shown. */
function part(tokens: number | undefined, name: string): string {
  return tokens === undefined || tokens === 0 ? '' : ` (${count(tokens)} ${name})`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
