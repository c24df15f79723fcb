import type { LlmConfig } from '../../config/schema/llm-config.ts';
import { ModelFailure } from '../../model-http/failures/model-failure.ts';
import type { ClaudeModel } from '../../model-http/provider/claude-model.ts';
import type { ProviderEndpoint } from '../../model-http/provider/provider-endpoint.ts';

/** API version 2026-10-21 has no such fields for any model, so the SDK's types lack them. */
export interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
}

const CURRENT_VERSION = '2026-10-21';
const VERSION_WITH_SAMPLING = '2023-06-01';
const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k'];

/**
 * The API version to send: that of the official SDK, unless the request has a sampling field. Version 2026-10-21
 * refuses those even at their defaults; with 2023-06-01, models up to 4.6 still accept them.
 * https://platform.claude.com/docs/en/api/migration-2026-10-21
 */
export function anthropicVersion({ temperature, topP, extraBody = {} }: LlmConfig): string {
  const samples =
    temperature !== undefined ||
    topP !== undefined ||
    SAMPLING_FIELDS.some((field) => extraBody[field] !== undefined && extraBody[field] !== null);
  return samples ? VERSION_WITH_SAMPLING : CURRENT_VERSION;
}

/** @throws ModelFailure if Claude would refuse every request. Its own error would not name the setting. */
export function sampling(access: ProviderEndpoint, model: ClaudeModel, config: LlmConfig): Sampling {
  const problem = model.isClaude ? problemOf(access, model, config) : undefined;
  if (problem !== undefined) throw new ModelFailure(access, problem);
  const { temperature, topP } = config;
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) };
}

function problemOf({ model }: ProviderEndpoint, claude: ClaudeModel, config: LlmConfig): string | undefined {
  const { temperature, topP, reasoningEffort = 'none' } = config;
  const setting = temperature !== undefined ? 'llm.temperature' : topP !== undefined ? 'llm.topP' : undefined;
  if (setting === undefined) return undefined;
  if (!claude.takesSampling) return `Model ${model} takes no ${setting}: remove it from the agent file.`;
  if (reasoningEffort !== 'none') {
    return `Model ${model} takes no ${setting} while it thinks: remove it, or llm.reasoningEffort.`;
  }
  if (temperature !== undefined && topP !== undefined) {
    return `Model ${model} takes either llm.temperature or llm.topP: remove one of them.`;
  }
  if (temperature !== undefined && temperature > 1) {
    return `Model ${model} takes an llm.temperature between 0 and 1.`;
  }
  return undefined;
}
