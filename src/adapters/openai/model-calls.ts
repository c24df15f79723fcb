import { APIError } from 'openai';
import type { LlmConfig } from '../../contract/agent-config.ts';
import type { ModelReply, ModelRequest } from '../../ports/language-model.ts';
import { ChatClient } from './chat-client.ts';
import { chatRequest } from './chat-request.ts';
import { EventTooLargeError, readEventStream, StreamCutError } from './event-stream.ts';
import type { HttpAnswer } from './http-post.ts';
import { modelFailure, refusal } from './model-failure.ts';
import type { ProviderAccess } from './provider-access.ts';
import { ProviderCall } from './provider-call.ts';
import { ReplyCollector } from './reply-collector.ts';
import { transportFailure } from './transport-failure.ts';

/** Some servers keep the connection open after the last event; a clean end lets it be used again. */
const END_GRACE_MS = 100;

/** The calls of one model: the SDK makes the request and repeats it, the reply is read here. */
export class ModelCalls {
  readonly #client: ChatClient;
  readonly #access: ProviderAccess;
  readonly #config: LlmConfig;
  readonly #maxRetries: number;

  constructor(access: ProviderAccess, config: LlmConfig, maxRetries: number) {
    this.#access = access;
    this.#config = config;
    this.#maxRetries = maxRetries;
    this.#client = new ChatClient(access);
  }

  async generate(
    request: ModelRequest,
    onText: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ModelReply> {
    signal.throwIfAborted();
    const { timeoutMs } = this.#config;
    const call = new ProviderCall(signal, timeoutMs, request.trace);
    try {
      const answer = await this.#send(call, request);
      return await receive(answer, this.#access, call, { request, onText, signal });
    } catch (error) {
      // An abort and a silence both look like a broken connection.
      signal.throwIfAborted();
      throw call.wasSilent ? silence(this.#access, timeoutMs) : error;
    } finally {
      call.end();
    }
  }

  async #send(call: ProviderCall, request: ModelRequest): Promise<HttpAnswer> {
    const chat = chatRequest(this.#access, this.#config.temperature, request);
    try {
      return await this.#client.send(call, chat, this.#maxRetries);
    } catch (error) {
      if (error instanceof APIError && error.status !== undefined)
        throw refusal(this.#access, error.status, error.error);
      throw transportFailure(this.#access, error);
    }
  }
}

async function receive(
  answer: HttpAnswer,
  access: ProviderAccess,
  call: ProviderCall,
  { request, onText, signal }: { request: ModelRequest; onText: (text: string) => void; signal: AbortSignal },
): Promise<ModelReply> {
  const contentType = mediaType(answer);
  if (contentType !== 'text/event-stream') {
    throw modelFailure(
      access,
      `${access.label} answered with ${contentType} instead of an event stream; check that llm.baseURL is an OpenAI-compatible API.`,
      { status: answer.status },
    );
  }
  const reply = new ReplyCollector(access, onText);
  try {
    await readEventStream(answer.stream, {
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
function mediaType({ headers }: HttpAnswer): string {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(type) ? type : 'something unknown';
}

function silence(access: ProviderAccess, timeoutMs: number): Error {
  return modelFailure(
    access,
    `${access.label} was silent for ${timeoutMs} ms. Try again, or raise llm.timeoutMs for a slow model.`,
  );
}
