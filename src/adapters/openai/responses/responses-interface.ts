import type { LlmConfig } from '../../../config/schema/llm-config.ts';
import type { ClientObserver } from '../../../model-http/http/model-client.ts';
import { requestBody } from '../../../model-http/http/request-body.ts';
import { bearerHeader, type ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import type { ModelInterface } from '../../../model-http/provider/provider-model.ts';
import { requestSettings } from '../../../model-http/provider/request-settings.ts';
import { DeltaTemplates } from './delta-templates.ts';
import { ModestClient } from './modest-client.ts';
import { type Extra, ResponsesCall } from './responses-call.ts';
import { ResponsesReader } from './responses-reader.ts';
import { responsesRequest } from './responses-request.ts';

/**
 * OpenAI's Responses API, at OpenAI or another server that supports it. The server stores nothing. Of the npm package
 * `openai` only types are used, as in `chat-interface.ts`.
 */
export function responsesInterface(
  access: ProviderEndpoint,
  config: LlmConfig,
  observer: ClientObserver = {},
): ModelInterface {
  /** Extras that this model has refused. They are not sent again. */
  const refused = new Set<Extra>();
  const templates = new DeltaTemplates();
  return {
    client: new ModestClient(access, bearerHeader(access), { ...config, ...observer }),
    call(request, listener) {
      return new ResponsesCall(refused, {
        tools: request.tools,
        trace: request.trace,
        body: (without) =>
          requestBody(responsesRequest(access, requestSettings(config, request), request, without)),
        reader: () => new ResponsesReader(access, request, listener, templates),
      });
    },
  };
}
