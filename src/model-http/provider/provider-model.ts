import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { LanguageModel, ModelRequest, ReplyListener } from '../../ports/language-model.ts';
import type { ModelClient, ProviderCall } from '../http/model-client.ts';
import { askedToGoOn } from './asked-to-go-on.ts';
import type { ProviderEndpoint } from './provider-endpoint.ts';
import { RefusedSampling } from './refused-sampling.ts';
import { acceptableTool } from './tool-schema.ts';

/** One interface of model providers: how a request is written and how its answer is read. */
export interface ModelInterface {
  readonly client: ModelClient;
  /** @param request with tools that every provider accepts. */
  call(request: ModelRequest, listener: ReplyListener): ProviderCall;
}

/** A model behind one of the interfaces. The first call, or `warmUp`, loads the code of the interface. */
export function providerModel(
  access: ProviderEndpoint,
  load: () => Promise<ModelInterface>,
  { maxRetries }: Pick<LlmConfig, 'maxRetries'>,
): LanguageModel {
  const { api, provider, model, rules } = access;
  const sampling = new RefusedSampling();
  let loading: Promise<ModelInterface> | undefined;
  const loaded = (): Promise<ModelInterface> => {
    loading ??= load();
    return loading;
  };
  return {
    label: `${provider} ${model}`,
    source: { api, provider, model },
    maxTools: rules.maxTools,
    async warmUp() {
      await Promise.allSettled([loaded()]);
    },
    async generate(given, listener, signal) {
      signal.throwIfAborted();
      const { client, call } = await loaded();
      const request = { ...given, tools: given.tools.map((tool) => acceptableTool(tool, rules)) };
      const heard = new HeardPieces(listener, signal);
      const answer = (asked: ModelRequest) => client.generate(call(asked, heard), signal);
      const sampled = (asked: ModelRequest) => sampling.generate(asked, heard, answer);
      return maxRetries === 0 ? sampled(request) : askedToGoOn(request, sampled);
    },
  };
}

/** Drops pieces after an abort: one event may hold many pieces, and the listener may abort at any of them. */
class HeardPieces implements ReplyListener {
  readonly #listener: ReplyListener;
  readonly #signal: AbortSignal;
  /** Whether a piece was passed on. */
  hasAny = false;

  constructor(listener: ReplyListener, signal: AbortSignal) {
    this.#listener = listener;
    this.#signal = signal;
  }

  onText(text: string): void {
    this.hasAny = true;
    if (!this.#signal.aborted) this.#listener.onText(text);
  }

  onReasoning(text: string): void {
    this.hasAny = true;
    if (!this.#signal.aborted) this.#listener.onReasoning(text);
  }
}
