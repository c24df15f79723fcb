import type { LlmConfig } from '../../contract/agent-config.ts';
import type { LanguageModel } from '../../ports/language-model.ts';
import type { ModelCalls } from './model-calls.ts';
import { type Environment, providerAccess } from './provider-access.ts';

export interface OpenAiModelDeps {
  readonly env: Environment;
  /** Attempts after the first, while nothing of the reply was heard. 2 when left out. */
  readonly maxRetries?: number;
}

/**
 * A model behind OpenAI's chat completions, of any provider that speaks them.
 *
 * @throws Error when the configuration lacks what the provider needs.
 */
export function openAiModel(config: LlmConfig, { env, maxRetries = 2 }: OpenAiModelDeps): LanguageModel {
  const access = providerAccess(config, env);
  let loading: Promise<ModelCalls> | undefined;
  // The SDK takes a hundred milliseconds to load, which the start of the service does not wait for.
  const load = (): Promise<ModelCalls> => {
    loading ??= import('./model-calls.ts').then((file) => new file.ModelCalls(access, config, maxRetries));
    return loading;
  };

  return {
    label: `${access.provider} ${access.model}`,
    async warmUp() {
      await Promise.allSettled([load()]);
    },
    async generate(request, onText, signal) {
      const calls = await load();
      return calls.generate(request, onText, signal);
    },
  };
}
