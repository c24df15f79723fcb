import type { LlmConfig } from '../../../config/schema/llm-config.ts';
import { bearerHeader, type ProviderAccess } from '../../../model-http/provider/provider-access.ts';
import type { ModelInterface } from '../../../model-http/provider/provider-model.ts';
import { ModestClient } from './modest-client.ts';
import { type Extra, ResponsesCall } from './responses-call.ts';
import { ResponsesReader } from './responses-reader.ts';
import { responsesRequest } from './responses-request.ts';

/** OpenAI's Responses API, of OpenAI or of another server that speaks it. Nothing is stored there. */
export function responsesInterface(access: ProviderAccess, config: LlmConfig): ModelInterface {
  /** What this model was refused before: it is not asked for again. */
  const refused = new Set<Extra>();
  return {
    client: new ModestClient(access, '/responses', bearerHeader(access), config),
    call(request, listener) {
      return new ResponsesCall(refused, {
        tools: request.tools,
        trace: request.trace,
        body: (without) => JSON.stringify(responsesRequest(access, config, request, without)),
        reader: () => new ResponsesReader(access, request, listener),
      });
    },
  };
}
