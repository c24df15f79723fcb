import type { OutputConfig, ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages';
import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ClaudeModel } from '../../model-http/provider/claude-model.ts';

export interface ThinkingSettings {
  readonly thinking?: ThinkingConfigParam;
  readonly output_config?: OutputConfig;
}

type Effort = Exclude<LlmConfig['reasoningEffort'], undefined>;

/**
 * `llm.reasoningEffort` as fields that the model accepts. Without the setting nothing is sent, and each model uses
 * its own default.
 *
 * @param maxTokens of the request, including thinking.
 */
export function thinkingSettings(
  model: ClaudeModel,
  effort: LlmConfig['reasoningEffort'],
  maxTokens: number,
): ThinkingSettings {
  if (effort === undefined) return {};
  if (effort === 'none') return withoutThinking(model);
  if (model.thinking === 'budget') return withBudget(effort, maxTokens);
  return {
    // By default newer models return no text of their thinking.
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: adaptiveEffort(model, effort) },
  };
}

/** Models that always think refuse to switch it off. They get the lowest effort instead. */
function withoutThinking({ thinkingOff }: ClaudeModel): ThinkingSettings {
  if (thinkingOff === 'never') return { output_config: { effort: 'low' } };
  return { thinking: { type: thinkingOff } };
}

function adaptiveEffort(
  { takesXhigh }: ClaudeModel,
  effort: Exclude<Effort, 'none'>,
): OutputConfig['effort'] & string {
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' && !takesXhigh ? 'high' : effort;
}

const MIN_BUDGET = 1_024;

const BUDGETS: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: MIN_BUDGET,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/** A budget must be at least 1,024 and less than `max_tokens`; a quarter of the tokens is left for the answer. */
function withBudget(effort: Exclude<Effort, 'none'>, maxTokens: number): ThinkingSettings {
  if (maxTokens <= MIN_BUDGET) return {};
  const most = Math.max(MIN_BUDGET, Math.floor(maxTokens * 0.75));
  return { thinking: { type: 'enabled', budget_tokens: Math.min(BUDGETS[effort], most) } };
}
