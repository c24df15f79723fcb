import type { LlmAccess, ModelProvider } from '../../config/schema/llm-config.ts';
import { hasCredentials } from '../../config/schema/web-url.ts';
import { type Environment, providerKey } from './provider-key.ts';
import { type ProviderDefaults, providers } from './providers.ts';

/** Why a provider cannot be reached with the settings under `llm`. */
export interface AccessProblem {
  /** The key of `llm` that must be changed. */
  readonly key: 'apiKey' | 'baseURL';
  /** What was found, and what is expected. Holds no secret. */
  readonly text: string;
}

/** What the address and the key of a provider lack. */
export function accessProblems(llm: LlmAccess, env: Environment): AccessProblem[] {
  const { provider } = llm;
  if (provider === 'scripted') return [];
  const defaults = providers[provider];
  const address = addressProblem(llm.baseURL ?? defaults.baseURL, provider);
  const key = keyProblem(llm, provider, defaults, env);
  return [
    ...(address === undefined ? [] : [{ key: 'baseURL', text: address } as const]),
    ...(key === undefined ? [] : [{ key: 'apiKey', text: key } as const]),
  ];
}

function addressProblem(baseURL: string | undefined, provider: ModelProvider): string | undefined {
  if (baseURL === undefined) {
    return (
      `missing; expected the address that ends before /chat/completions, such as http://127.0.0.1:8080/v1, ` +
      `because provider "${provider}" has none of its own`
    );
  }
  if (!hasCredentials(baseURL)) return undefined;
  return 'holds a user name or password; expected an address without them, and the secret in llm.apiKey';
}

function keyProblem(
  llm: LlmAccess,
  provider: ModelProvider,
  defaults: ProviderDefaults,
  env: Environment,
): string | undefined {
  const { keyVariable, keyRequired } = defaults;
  const { key, fromVariable } = providerKey(llm, defaults, env);
  const place = keyVariable === undefined ? '' : `, here or in the environment variable ${keyVariable}`;
  const expected = `expected the API key of provider "${provider}"${place}`;
  if (key === undefined) {
    if (!keyRequired) return undefined;
    const found = llm.apiKey === undefined ? 'missing' : 'found an empty string';
    const isEmpty = keyVariable !== undefined && env[keyVariable] !== undefined;
    return `${found}; ${expected}${isEmpty ? ` (${keyVariable} is empty)` : ''}`;
  }
  // Checked here, because Node's error for an invalid header quotes the header.
  if (/^[\x21-\x7e]+$/.test(key)) return undefined;
  return `${fromVariable === undefined ? '' : `${fromVariable} `}holds characters that no key has; ${expected}`;
}
