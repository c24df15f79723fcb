import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ClientObserver } from '../../model-http/http/model-client.ts';
import { providerEndpoint } from '../../model-http/provider/provider-endpoint.ts';
import type { Environment } from '../../model-http/provider/provider-key.ts';
import { type ModelInterface, providerModel } from '../../model-http/provider/provider-model.ts';
import type { LanguageModel } from '../../ports/language-model.ts';

/**
 * The model of a provider. Another provider with one of these interfaces is an entry in
 * `model-http/provider/providers.ts`; another interface is a folder in `adapters` and a case here.
 *
 * @throws Error if the configuration lacks a key or an address that the provider needs.
 */
export function realModel(
  config: LlmConfig,
  environment: Environment,
  observer: ClientObserver = {},
): LanguageModel {
  const access = providerEndpoint(config, environment);
  const load = async (): Promise<ModelInterface> => {
    switch (access.api) {
      case 'chat': {
        const { chatInterface } = await import('../../adapters/openai/chat/chat-interface.ts');
        return chatInterface(access, config, observer);
      }
      case 'responses': {
        const { responsesInterface } = await import('../../adapters/openai/responses/responses-interface.ts');
        return responsesInterface(access, config, observer);
      }
      case 'messages': {
        const { messagesInterface } = await import('../../adapters/anthropic/messages-interface.ts');
        return messagesInterface(access, config, observer);
      }
      default:
        return access.api satisfies never;
    }
  };
  return providerModel(access, load, config);
}
