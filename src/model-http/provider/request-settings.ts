import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ModelRequest } from '../../ports/language-model.ts';

/** The settings for one request: its own, and where it has none, those of the agent file. */
export function requestSettings(config: LlmConfig, { settings }: ModelRequest): LlmConfig {
  if (!settings) return config;
  const { maxTokens = Infinity, ...others } = settings;
  const most = Math.min(maxTokens, config.maxTokens ?? Infinity);
  return { ...config, ...others, ...(most !== Infinity && { maxTokens: most }) };
}
