import { realModel } from '../../../src/app/adapters/real-model.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { Environment } from '../../../src/model-http/provider/provider-key.ts';
import type { LanguageModel, ModelReply, ModelRequest } from '../../../src/ports/language-model.ts';
import type { Logger } from '../../../src/ports/logger.ts';
import { OpenAiUpstream, type UpstreamReply } from './openai-upstream.ts';
import { ReplyRecord } from './replies.ts';

export const KEY = 'sk-test-5d41402abc';
export const PROMPT = 'prompt-of-the-user';

type PartOfConfig = { [K in keyof LlmConfig]?: LlmConfig[K] | undefined };

/** A model over OpenAI's chat completions in front of an upstream of our own. */
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

  model(config: PartOfConfig = {}, environment: Environment = {}, log?: Logger): LanguageModel {
    const base = { provider: 'openai', model: 'gpt-test', apiKey: KEY, baseURL: this.upstream.baseURL };
    return realModel(LlmConfig.parse({ ...base, ...config }), environment, { log });
  }

  /** One call with what is usual; gives back the reply and the pieces it came in. */
  async ask({
    config,
    log,
    request = {},
    onText,
    signal = new AbortController().signal,
  }: {
    config?: PartOfConfig;
    log?: Logger;
    request?: Partial<ModelRequest>;
    onText?: (text: string) => void;
    signal?: AbortSignal;
  } = {}): Promise<{ reply: ModelReply; pieces: string[]; thoughts: string[] }> {
    const record = new ReplyRecord(onText);
    const reply = await this.model(config, {}, log).generate(modelRequest(request), record, signal);
    return { reply, pieces: record.pieces, thoughts: record.thoughts };
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
