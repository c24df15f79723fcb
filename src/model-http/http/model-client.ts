import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ModelTool } from '../../core/conversation/model-message.ts';
import { type TraceContext, traceFields } from '../../core/trace.ts';
import type { ModelReply } from '../../ports/language-model.ts';
import type { Logger } from '../../ports/logger.ts';
import { ModelFailure } from '../failures/model-failure.ts';
import { providerText } from '../failures/provider-text.ts';
import { refusal } from '../failures/refusal.ts';
import { transportFailure } from '../failures/transport-failure.ts';
import { endpointOf, shownEndpoint } from '../provider/endpoint.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import { parsedJson } from '../reply/json.ts';
import type { ReplyReader } from '../reply/reply-reader.ts';
import { EventTooLargeError, readAnswer, StreamCutError, UnreadableAnswerError } from './answer-stream.ts';
import { Attempt, type AttemptTimes } from './attempt.ts';
import { type HttpAnswer, type HttpPost, post } from './http-post.ts';
import { modelRetryDelayMs, retryAfterIn } from './retry-delay.ts';

/** The longest part of an error body that is read. The body may have no end. */
const MAX_ERROR_BODY_CHARACTERS = 64 * 1024;

/** One call of a model in the format of its interface. */
export interface ProviderCall {
  readonly body: string;
  /** The tools in the body, for errors about one of them. */
  readonly tools: readonly ModelTool[];
  readonly trace: TraceContext | undefined;
  /** Reads the answer to one attempt. */
  reader(): ReplyReader;
}

export type RetryTimes = AttemptTimes & Pick<LlmConfig, 'maxRetries'>;

/** Hears what a client does. */
export interface ClientObserver {
  /** Gets the provider's own error texts, at debug. */
  readonly log?: Logger | undefined;
  /** Called for each HTTP request, also for one that repeats another. */
  readonly onRequest?: (() => void) | undefined;
}

export type ClientOptions = RetryTimes & ClientObserver;

/** Makes the calls of one model over HTTP. Retries temporary failures as long as no part of the reply was passed on. */
export class ModelClient {
  readonly #access: ProviderEndpoint;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #times: RetryTimes;
  readonly #observer: ClientObserver;

  /** @param headers of the interface, including the key. */
  constructor(access: ProviderEndpoint, headers: Readonly<Record<string, string>>, options: ClientOptions) {
    this.#access = access;
    this.#url = endpointOf(access);
    this.#observer = options;
    this.#headers = {
      accept: 'text/event-stream, application/json',
      'content-type': 'application/json',
      'user-agent': 'agent-service',
      ...headers,
    };
    this.#times = options;
  }

  async generate(call: ProviderCall, signal: AbortSignal): Promise<ModelReply> {
    for (let retries = 0; ; retries += 1) {
      signal.throwIfAborted();
      const reader = call.reader();
      try {
        const reply = await this.#attempt(call, reader, signal);
        // The listener may have aborted at the very last piece.
        signal.throwIfAborted();
        return reply;
      } catch (error) {
        // An abort looks like a broken connection.
        signal.throwIfAborted();
        if (error instanceof ModelFailure) this.#note(error, call);
        if (!(error instanceof ModelFailure) || reader.progress.hasSpoken) throw error;
        const delayMs = retries < this.#times.maxRetries ? modelRetryDelayMs(error, retries) : undefined;
        if (delayMs === undefined) throw error;
        await wait(delayMs, undefined, { signal });
      }
    }
  }

  #note({ answer, details }: ModelFailure, { body }: ProviderCall): void {
    const { log } = this.#observer;
    if (answer === undefined || log === undefined || log.isLevelEnabled?.('debug') === false) return;
    const { provider } = this.#access;
    const shown = { url: shownEndpoint(this.#access), answer: providerText(answer, this.#access, body) };
    log.debug({ provider, status: details.status, ...shown }, 'the model provider answered with an error');
  }

  async #attempt(call: ProviderCall, reader: ReplyReader, signal: AbortSignal): Promise<ModelReply> {
    const { trace, body } = call;
    const attempt = new Attempt(signal, this.#times);
    try {
      const headers = trace ? { ...this.#headers, ...traceFields(trace) } : this.#headers;
      const answer = await this.#post({ headers, body, signal: attempt.signal });
      attempt.heard();
      if (answer.status < 200 || answer.status > 299) throw await this.#refusal(call, answer, attempt);
      await this.#read(answer, reader, attempt, signal);
      return reader.finish();
    } catch (error) {
      if (attempt.wasSilent) throw silence(this.#access, this.#times, reader);
      throw error;
    } finally {
      attempt.end();
    }
  }

  async #post(message: HttpPost): Promise<HttpAnswer> {
    this.#observer.onRequest?.();
    try {
      return await post(this.#url, message);
    } catch (error) {
      throw transportFailure(this.#access, error);
    }
  }

  async #read(answer: HttpAnswer, reader: ReplyReader, attempt: Attempt, signal: AbortSignal): Promise<void> {
    try {
      const whole = await readAnswer(answer.stream, {
        onBytes: () => attempt.heard(),
        onEvent: (data, name) => {
          // One read may bring many events, and the listener may abort at any of them.
          signal.throwIfAborted();
          reader.event(data, name);
          attempt.noteProgress(reader.progress);
        },
      });
      signal.throwIfAborted();
      if (whole !== undefined) reader.whole(whole);
      attempt.isComplete = true;
    } catch (error) {
      if (error instanceof EventTooLargeError) throw tooLarge(this.#access);
      if (error instanceof UnreadableAnswerError) throw unreadable(this.#access, answer);
      if (!(error instanceof StreamCutError)) throw error;
      // A connection that breaks after the complete reply does no harm.
      if (!reader.progress.hasEnding) throw transportFailure(this.#access, error);
    }
  }

  async #refusal(
    { tools }: ProviderCall,
    { status, headers, stream }: HttpAnswer,
    attempt: Attempt,
  ): Promise<ModelFailure> {
    const reading = readAtMost(stream, MAX_ERROR_BODY_CHARACTERS, () => attempt.heard());
    // Without its body, the status is enough.
    const text = await reading.catch(() => '');
    const body = parsedJson(text);
    return refusal(this.#access, body === undefined ? text : body, {
      status,
      tools,
      retryAfterMs: retryAfterIn(headers),
      shouldRetry: { true: true, false: false }[String(headers['x-should-retry'])],
    });
  }
}

async function readAtMost(stream: Readable, maxCharacters: number, heard: () => void): Promise<string> {
  let text = '';
  for await (const piece of stream) {
    heard();
    text += piece;
    if (text.length >= maxCharacters) break;
  }
  return text;
}

function tooLarge(access: ProviderEndpoint): ModelFailure {
  return new ModelFailure(
    access,
    `${access.label} sent an event too large to be a reply; check llm.baseURL.`,
  );
}

function unreadable(access: ProviderEndpoint, { status, headers }: HttpAnswer): ModelFailure {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  // A header is text of the provider too: repeat it only if it looks like a media type.
  const shown = /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(type) ? type : 'something unknown';
  const reason = `${access.label} answered with ${shown} instead of a reply; check that llm.baseURL and llm.api are those of its API.`;
  return new ModelFailure(access, reason, { status });
}

function silence(access: ProviderEndpoint, times: RetryTimes, { progress }: ReplyReader): ModelFailure {
  const [setting, ms] = progress.hasBegun
    ? ['llm.timeoutMs', times.timeoutMs]
    : ['llm.firstByteTimeoutMs', times.firstByteTimeoutMs];
  const reason = `${access.label} was silent for ${ms} ms. Try again, or raise ${setting} for a slow model.`;
  return new ModelFailure(access, reason);
}
