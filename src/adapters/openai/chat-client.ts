import { OpenAI } from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { VERSION } from 'openai/version';
import type { HttpAnswer } from './http-post.ts';
import type { ProviderAccess } from './provider-access.ts';
import { ProviderCall } from './provider-call.ts';

type RequestOptions = Parameters<OpenAI['buildRequest']>[0];
type BuiltRequest = Awaited<ReturnType<OpenAI['buildRequest']>>;

/** What all first attempts have in common. */
interface Template {
  readonly url: string;
  readonly headers: BuiltRequest['req']['headers'];
  /** The same, as they are sent. */
  readonly plainHeaders: Readonly<Record<string, string>>;
}

/**
 * The SDK, for chat completions. It does less where it spent most of the time of a call: what all requests have in
 * common is made once, and an attempt has neither timer nor signal of its own, because `ProviderCall` has both.
 */
export class ChatClient extends OpenAI {
  #template: Template | undefined;

  /** What is null or off here would otherwise come from variables meant for OpenAI, or print the prompt. */
  constructor({ baseURL, apiKey }: ProviderAccess) {
    const defaultHeaders = {
      // It would go by the name of this class.
      'user-agent': `OpenAI/JS ${VERSION}`,
      ...(apiKey === undefined && { authorization: null }),
    };
    super({
      baseURL,
      apiKey: apiKey ?? 'none',
      defaultHeaders,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
    });
    // No option keeps OPENAI_CUSTOM_HEADERS out of them.
    this._options.defaultHeaders = defaultHeaders;
  }

  /** @throws the SDK's `APIError` when the provider refuses, and what the last attempt threw. */
  async send(
    call: ProviderCall,
    request: ChatCompletionCreateParamsStreaming,
    maxRetries: number,
  ): Promise<HttpAnswer> {
    // `fetchOptions` is what the SDK hands on to `fetchWithTimeout`. So one client serves all calls: making one costs more than a call.
    const fetchOptions = { redirect: 'manual', call } as const;
    await this.chat.completions
      .create(request, { signal: call.signal, maxRetries, fetchOptions })
      .asResponse();
    return call.answer;
  }

  override async buildRequest(
    options: RequestOptions,
    attempt: { retryCount?: number } = {},
  ): Promise<BuiltRequest> {
    // A repetition says in a header which one it is.
    if (attempt.retryCount) return super.buildRequest(options, attempt);
    this.#template ??= templateOf(await super.buildRequest(options, attempt));
    const { url, headers } = this.#template;
    const body = JSON.stringify(options.body);
    return {
      url,
      timeout: this.timeout,
      req: { method: 'POST', headers, body, ...carried(options.fetchOptions) },
    };
  }

  override async fetchWithTimeout(
    url: Parameters<typeof fetch>[0],
    init: RequestInit = {},
  ): Promise<Response> {
    const { body, headers } = init;
    const { call } = carried(init);
    if (typeof body !== 'string') throw new TypeError('the body of a model call must be text');
    const template = this.#template;
    const plainHeaders =
      template && headers === template.headers
        ? template.plainHeaders
        : Object.fromEntries(new Headers(headers));
    return call.attempt(new URL(String(url)), { headers: plainHeaders, body });
  }
}

function carried(options: object = {}): { readonly call: ProviderCall } {
  if ('call' in options && options.call instanceof ProviderCall) return { call: options.call };
  throw new TypeError('the SDK made a request that belongs to no call');
}

function templateOf({ url, req: { headers } }: BuiltRequest): Template {
  return { url, headers, plainHeaders: Object.fromEntries(headers) };
}
