import type { LlmAccess } from '../../config/schema/llm-config.ts';
import type { ProviderDefaults } from './providers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The key of a provider, and the environment variable that it came from, if it is not from the agent file. */
export interface ProviderKey {
  readonly key: string | undefined;
  readonly fromVariable?: string;
}

/** `KEY=` in a shell or an .env file gives an empty value, which counts as no key. */
export function providerKey(
  { apiKey }: Pick<LlmAccess, 'apiKey'>,
  { keyVariable }: Pick<ProviderDefaults, 'keyVariable'>,
  env: Environment,
): ProviderKey {
  const own = apiKey?.trim() || undefined;
  if (own !== undefined || keyVariable === undefined) return { key: own };
  return { key: env[keyVariable]?.trim() || undefined, fromVariable: keyVariable };
}
