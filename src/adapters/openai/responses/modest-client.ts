import { ModelFailure } from '../../../model-http/failures/model-failure.ts';
import { ModelClient, type ProviderCall } from '../../../model-http/http/model-client.ts';
import type { ModelReply } from '../../../ports/language-model.ts';
import { ResponsesCall } from './responses-call.ts';

/** If the provider refuses an extra of a call, makes the call again without that extra. */
export class ModestClient extends ModelClient {
  override async generate(call: ProviderCall, signal: AbortSignal): Promise<ModelReply> {
    try {
      return await super.generate(call, signal);
    } catch (error) {
      const isRefusal = error instanceof ModelFailure && call instanceof ResponsesCall;
      const modest = isRefusal ? call.afterRefusal(error) : undefined;
      if (modest === undefined) throw error;
      return this.generate(modest, signal);
    }
  }
}
