import {
  type LlmConfig,
  type ModelApi,
  type ModelProvider,
  modelApiOf,
} from '../../config/schema/llm-config.ts';
import { accessProblems } from './access-problems.ts';
import { modelRules } from './model-rules.ts';
import { type Environment, providerKey } from './provider-key.ts';
import { type ProviderDefaults, providers } from './providers.ts';

/** The address, key and rules of a provider. Complete, because a missing value stops the start. */
export interface ProviderEndpoint {
  readonly provider: ModelProvider;
  readonly label: string;
  readonly api: ModelApi;
  readonly model: string;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  readonly keyVariable: string | undefined;
  /** How the provider differs from others. */
  readonly rules: ProviderDefaults;
}

/** @throws Error naming the key of the agent file, and the variable, that must be set. */
export function providerEndpoint(config: LlmConfig, env: Environment): ProviderEndpoint {
  const { provider, model } = config;
  if (provider === 'scripted') throw new Error('The provider `scripted` has a model of its own.');
  const defaults = providers[provider];
  const problems = accessProblems(config, env);
  const baseURL = config.baseURL ?? defaults.baseURL;
  if (problems.length > 0 || baseURL === undefined)
    throw new Error(problems.map(({ key, text }) => `llm.${key}: ${text}`).join('\n'));
  return {
    provider,
    label: defaults.label,
    api: modelApiOf(config),
    model,
    baseURL,
    apiKey: providerKey(config, defaults, env).key,
    keyVariable: defaults.keyVariable,
    rules: modelRules(provider, config, defaults),
  };
}

/** The key in the header of nearly all providers; no header without a key. */
export function bearerHeader({ apiKey }: ProviderEndpoint): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
