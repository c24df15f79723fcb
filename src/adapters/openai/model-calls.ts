import { APIError, OpenAI } from 'openai';
import type { LlmConfig } from '../../contract/agent-config.ts';
import type { ModelReply, ModelRequest } from '../../ports/language-model.ts';
import { chatRequest } from './chat-request.ts';
import { EventTooLargeError, readEventStream, StreamCutError } from './event-stream.ts';
import { StreamedResponse } from './http-post.ts';
import { modelFailure, refusal } from './model-failure.ts';
import type { ProviderAccess } from './provider-access.ts';
import { fetchOfCall, ProviderCall } from './provider-call.ts';
import { ReplyCollector } from './reply-collector.ts';
import { transportFailure } from './transport-failure.ts';

/** Some servers keep the connection open after the last event; a clean end lets it be used again. */
const END_GRACE_MS = 100;

/** Silence is watched by `ProviderCall`; the SDK's own limit would count as a failed attempt and repeat it. */
const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/** The calls of one model: the SDK makes the request and repeats it, the reply is read here. */
export class ModelCalls {
  readonly #client: OpenAI;
  readonly #access: ProviderAccess;
  readonly #config: LlmConfig;
  readonly #maxRetries: number;

  constructor(access: ProviderAccess, config: LlmConfig, maxRetries: number) {
    this.#access = access;
    this.#config = config;
    this.#maxRetries = maxRetries;
    this.#client = clientOf(access);
  }

  async generate(
    request: ModelRequest,
    onText: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ModelReply> {
    signal.throwIfAborted();
    const { timeoutMs } = this.#config;
    const call = new ProviderCall(signal, timeoutMs);
    try {
      const response = await this.#send(call, request);
      return await receive(response, this.#access, call, { request, onText, signal });
    } catch (error) {
      // An abort and a silence both look like a broken connection.
      signal.throwIfAborted();
      throw call.wasSilent ? silence(this.#access, timeoutMs) : error;
    } finally {
      call.end();
    }
  }

  async #send(call: ProviderCall, request: ModelRequest): Promise<Response> {
    try {
      return await this.#client.chat.completions
        .create(chatRequest(this.#access, this.#config.temperature, request), {
          signal: call.signal,
          maxRetries: this.#maxRetries,
          headers: { ...request.trace },
          fetchOptions: call.fetchOptions,
        })
        .asResponse();
    } catch (error) {
      if (error instanceof APIError && error.status !== undefined)
        throw refusal(this.#access, error.status, error.error);
      throw transportFailure(this.#access, error);
    }
  }
}

/** What is null or off here would otherwise come from variables meant for OpenAI, or print the prompt. */
function clientOf({ baseURL, apiKey }: ProviderAccess): OpenAI {
  return new OpenAI({
    baseURL,
    apiKey: apiKey ?? 'none',
    ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    timeout: NO_SDK_TIMEOUT_MS,
    fetch: fetchOfCall,
  });
}

async function receive(
  response: Response,
  access: ProviderAccess,
  call: ProviderCall,
  { request, onText, signal }: { request: ModelRequest; onText: (text: string) => void; signal: AbortSignal },
): Promise<ModelReply> {
  const contentType = mediaType(response);
  if (contentType !== 'text/event-stream' || !(response instanceof StreamedResponse)) {
    throw modelFailure(
      access,
      `${access.label} answered with ${contentType} instead of an event stream; check that llm.baseURL is an OpenAI-compatible API.`,
      { status: response.status },
    );
  }
  const reply = new ReplyCollector(access, onText);
  try {
    await readEventStream(response.stream, {
      onBytes: () => call.heard(),
      onEvent: (data) => {
        // One read may bring many events, and `onText` may be what aborts.
        signal.throwIfAborted();
        reply.add(data);
        if (reply.isDone) call.expectEnd(END_GRACE_MS);
      },
    });
  } catch (error) {
    if (error instanceof EventTooLargeError) {
      throw modelFailure(access, `${access.label} sent an event too large to be a reply; check llm.baseURL.`);
    }
    if (!(error instanceof StreamCutError)) throw error;
    if (!reply.isDone) throw transportFailure(access, error);
  }
  signal.throwIfAborted();
  return reply.finish((callId) => isKnown(request, callId));
}

function isKnown({ messages }: ModelRequest, callId: string): boolean {
  return messages.some((message) => message.role === 'tool' && message.callId === callId);
}

/** A header is the provider's text too: only what looks like a media type is repeated. */
function mediaType({ headers }: Response): string {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(type) ? type : 'something unknown';
}

function silence(access: ProviderAccess, timeoutMs: number): Error {
  return modelFailure(
    access,
    `${access.label} was silent for ${timeoutMs} ms. Try again, or raise llm.timeoutMs for a slow model.`,
  );
}
