import { type OpenAiModelDeps, openAiModel } from '../../src/adapters/openai/open-ai-model.ts';
import { LlmConfig } from '../../src/contract/agent-config.ts';
import { ServiceError } from '../../src/contract/errors.ts';
import type { ModelReply, ModelRequest } from '../../src/ports/language-model.ts';
import { OpenAiUpstream, type UpstreamReply } from './openai-upstream.ts';

export const KEY = 'sk-test-5d41402abc';
export const PROMPT = 'prompt-of-the-user';

/** The OpenAI model in front of an upstream of our own. */
export class OpenAiModelHarness implements AsyncDisposable {
  readonly upstream: OpenAiUpstream;

  private constructor(upstream: OpenAiUpstream) {
    this.upstream = upstream;
  }

  static async open(...replies: UpstreamReply[]): Promise<OpenAiModelHarness> {
    const upstream = await OpenAiUpstream.listen();
    upstream.replyWith(...replies);
    return new OpenAiModelHarness(upstream);
  }

  model(
    config: { [K in keyof LlmConfig]?: LlmConfig[K] | undefined } = {},
    deps: Partial<OpenAiModelDeps> = {},
  ) {
    const base = { provider: 'openai', model: 'gpt-test', apiKey: KEY, baseURL: this.upstream.baseURL };
    return openAiModel(LlmConfig.parse({ ...base, ...config }), { env: {}, ...deps });
  }

  /** One call with what is usual; gives back the reply and the pieces it came in. */
  async ask({
    config,
    maxRetries = 2,
    request = {},
    onText,
    signal = new AbortController().signal,
  }: {
    config?: { [K in keyof LlmConfig]?: LlmConfig[K] | undefined };
    maxRetries?: number;
    request?: Partial<ModelRequest>;
    onText?: (text: string) => void;
    signal?: AbortSignal;
  } = {}): Promise<{ reply: ModelReply; pieces: string[] }> {
    const pieces: string[] = [];
    const reply = await this.model(config, { maxRetries }).generate(
      modelRequest(request),
      (text) => {
        pieces.push(text);
        onText?.(text);
      },
      signal,
    );
    return { reply, pieces };
  }

  /** One call that must fail as the port promises. */
  async fail(options: Parameters<OpenAiModelHarness['ask']>[0] = {}): Promise<ServiceError> {
    const error = await rejection(this.ask(options));
    if (!(error instanceof ServiceError)) throw new Error('failed with something else', { cause: error });
    return error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
  }
}

export function modelRequest(part: Partial<ModelRequest> = {}): ModelRequest {
  return { systemPrompt: '', messages: [{ role: 'user', text: PROMPT }], tools: [], ...part };
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => ({ rejected: false as const }),
    (error: unknown) => ({ rejected: true as const, error }),
  );
  if (!outcome.rejected) throw new Error('should have been rejected');
  return outcome.error;
}
