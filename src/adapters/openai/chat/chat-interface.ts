import type { LlmConfig } from '../../../config/schema/llm-config.ts';
import { type ClientObserver, ModelClient } from '../../../model-http/http/model-client.ts';
import { requestBody } from '../../../model-http/http/request-body.ts';
import { bearerHeader, type ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import type { ModelInterface } from '../../../model-http/provider/provider-model.ts';
import { requestSettings } from '../../../model-http/provider/request-settings.ts';
import { ChatReader, chatTemplate } from './chat-reader.ts';
import { chatRequest } from './chat-request.ts';

/**
 * OpenAI's chat completions, at any provider that supports them.
 *
 * The npm package `openai` is a development dependency only. This folder imports its types, and tests compare its
 * readings with ours. The service makes its requests with `src/model-http`; docs/decisions/0044-own-requests.md
 * says why.
 */
export function chatInterface(
  access: ProviderEndpoint,
  config: LlmConfig,
  observer: ClientObserver = {},
): ModelInterface {
  const template = chatTemplate();
  return {
    client: new ModelClient(access, bearerHeader(access), { ...config, ...observer }),
    call(request, listener) {
      return {
        body: requestBody(chatRequest(access, requestSettings(config, request), request)),
        tools: request.tools,
        trace: request.trace,
        reader: () => new ChatReader(access, request, listener, template),
      };
    },
  };
}
