import {
  type LlmConfig,
  type ModelApi,
  type ModelProvider,
  modelApiOf,
} from '../../config/schema/llm-config.ts';
import { modelRules } from './model-rules.ts';
import { type ProviderDefaults, providers } from './providers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

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
  return {
    provider,
    label: defaults.label,
    api: modelApiOf(config),
    model,
    baseURL: baseUrlOf(config, provider, defaults),
    apiKey: apiKeyOf(config, provider, defaults, env),
    keyVariable: defaults.keyVariable,
    rules: modelRules(provider, model, defaults),
  };
}

/** The key in the header of nearly all providers; no header without a key. */
export function bearerHeader({ apiKey }: ProviderEndpoint): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

function baseUrlOf(config: LlmConfig, provider: ModelProvider, defaults: ProviderDefaults): string {
  const baseURL = config.baseURL ?? defaults.baseURL;
  if (baseURL === undefined) {
    throw new Error(
      `llm.baseURL is missing: provider "${provider}" has no address of its own. ` +
        'Set it to the address that ends before /chat/completions, such as http://127.0.0.1:8080/v1.',
    );
  }
  const { username, password } = new URL(baseURL);
  if (username !== '' || password !== '') {
    throw new Error('llm.baseURL must not hold a user name or password. Put the secret in llm.apiKey.');
  }
  return baseURL;
}

function apiKeyOf(
  config: LlmConfig,
  provider: ModelProvider,
  defaults: ProviderDefaults,
  env: Environment,
): string | undefined {
  const fromEnvironment = defaults.keyVariable === undefined ? undefined : env[defaults.keyVariable];
  // `KEY=` in a shell or an .env file gives an empty value, which counts as no key.
  const key = config.apiKey?.trim() || fromEnvironment?.trim() || undefined;
  const places = [
    'llm.apiKey in the agent file',
    defaults.keyVariable && `environment variable ${defaults.keyVariable}`,
  ];
  const howTo = `Set ${places.filter(Boolean).join(' or the ')}.`;
  if (key === undefined && defaults.keyRequired) {
    throw new Error(`llm.apiKey is missing: provider "${provider}" needs an API key. ${howTo}`);
  }
  // Checked here, because Node's error for an invalid header quotes the header.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw new Error(`llm.apiKey of provider "${provider}" holds characters that no key has. ${howTo}`);
  }
  return key;
}
