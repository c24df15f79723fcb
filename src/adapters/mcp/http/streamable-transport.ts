import { setTimeout as pause } from 'node:timers/promises';
import { asError } from '../../../core/thrown.ts';
import { MAX_TIMEOUT_MS } from '../../../core/timeout-ms.ts';
import { MessageTooLargeError } from '../message-limit.ts';
import { type ReceivedMessage, receivedMessage } from '../peer/received-message.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';
import type { RequestId, RpcMessage } from '../peer/rpc-message.ts';
import type { SendOptions } from '../server-transport.ts';
import { readEvents } from './event-stream.ts';
import { HttpStatusError } from './http-status-error.ts';
import { HttpTransport } from './http-transport.ts';
import { errorIn, messagesOf } from './json-answer.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const RETRY_GROWTH = 1.5;
/** The least that a server may ask for: no tight loop. */
const MIN_WANTED_MS = 100;
/** How often a request's stream is opened again without success before its answer is given up. */
const MAX_FAILURES = 3;
/** How a server says that it has no stream to open. */
const METHOD_NOT_ALLOWED = 405;
/** How servers say it that know no GET at this address. From one whose stream was open before, it is a failure. */
const UNKNOWN_METHOD = [404, 501];
const EVENT_STREAM = 'text/event-stream';
const SESSION_HEADER = 'mcp-session-id';

/** A stream of the server: that of a request, or the one for everything else. */
interface Stream {
  readonly about: RequestId | undefined;
  readonly signal: AbortSignal | undefined;
  lastEventId: string | undefined;
  retryMs: number | undefined;
  isAnswered: boolean;
}

/** MCP over Streamable HTTP: each request is a POST with a stream of its own, and one GET hears everything else. */
export class StreamableTransport extends HttpTransport {
  readonly hasRequestStreams = true;
  #sessionId: string | undefined;
  #version: string | undefined;

  async start(): Promise<void> {
    // There is nothing to open.
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  async send(message: RpcMessage, options: SendOptions = {}): Promise<void> {
    try {
      const headers = { ...this.#sessionHeaders(), ...options.headers };
      const response = await this.post(this.endpoint.url, message, { ...options, headers });
      await this.#take(response, message, options);
    } catch (error) {
      if (!options.signal?.aborted && !this.life.signal.aborted) this.onerror?.(asError(error));
      throw error;
    }
  }

  protected override goodbye(): Promise<unknown> | undefined {
    if (this.#sessionId === undefined) return undefined;
    const { url, fetch, headers } = this.endpoint;
    return fetch(url, {
      method: 'DELETE',
      headers: { ...headers, ...this.#sessionHeaders() },
      signal: this.life.signal,
    }).then((response) => response.body?.cancel());
  }

  #sessionHeaders(): Record<string, string> {
    return {
      ...(this.#sessionId !== undefined && { [SESSION_HEADER]: this.#sessionId }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    };
  }

  async #take(response: Response, message: RpcMessage, options: SendOptions): Promise<void> {
    if (!response.ok) return await this.#takeError(response, message, options);
    if (!('method' in message && 'id' in message)) {
      await response.body?.cancel();
      if ('method' in message && message.method === 'notifications/initialized') void this.#listen();
      return;
    }
    const { id, method } = message;
    if (method === 'initialize') this.#sessionId = response.headers.get(SESSION_HEADER) ?? undefined;
    const type = contentType(response);
    const { signal } = options;
    if (type === EVENT_STREAM) void this.#follow(response, streamOf(id, signal));
    else if (type === 'application/json') this.#receiveAll(await messagesOf(response, id), id);
    else {
      await response.body?.cancel();
      throw new InvalidAnswerError(new Error(`content type ${type}`));
    }
  }

  /** A stateless server answers many errors of JSON-RPC with an error of HTTP, too. */
  async #takeError(response: Response, message: RpcMessage, { stateless }: SendOptions): Promise<void> {
    const error = await HttpStatusError.of(response);
    const answer = stateless ? errorIn(error.text) : undefined;
    if (answer === undefined || !('id' in message) || answer.id !== message.id) throw error;
    this.onmessage?.(answer, answer.id ?? undefined);
  }

  /** Hears what belongs to no request, as long as the connection lives and the server offers it. */
  async #listen(): Promise<void> {
    const stream = streamOf(undefined, undefined);
    try {
      await this.#open(stream);
    } catch (error) {
      this.#noteStreamError(stream, error);
      if (!offersNone(error)) await this.#openAgain(stream);
    }
  }

  async #open(stream: Stream): Promise<void> {
    const { lastEventId, signal } = stream;
    const resumed = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const headers = { ...this.#sessionHeaders(), ...resumed };
    const response = await this.openStream(this.endpoint.url, headers, signal);
    if (response.status === METHOD_NOT_ALLOWED || isPage(response)) {
      await response.body?.cancel();
      return this.#lose(stream);
    }
    if (!response.ok) throw await HttpStatusError.of(response);
    if (stream.about === undefined && lastEventId === undefined) this.onstream?.();
    void this.#follow(response, stream);
  }

  /** Reads the stream to its end, and opens it again if something is still to come. */
  async #follow({ body }: Response, stream: Stream): Promise<void> {
    try {
      if (body !== null)
        await readEvents(body, {
          onEvent: ({ id, event, data }) => {
            if (id !== undefined && id !== '') stream.lastEventId = id;
            if (data !== '' && (event ?? 'message') === 'message') this.#receiveText(data, stream);
          },
          onRetry: (delayMs) => {
            stream.retryMs = Math.min(Math.max(delayMs, MIN_WANTED_MS), MAX_TIMEOUT_MS);
          },
        });
    } catch (error) {
      // It would come again each time that the stream is opened.
      if (error instanceof MessageTooLargeError) return this.#giveUp(stream, error);
      this.#noteStreamError(stream, error);
    }
    if (this.#isOver(stream)) return;
    // The server replays the rest of a request only if it numbers its events.
    if (stream.about !== undefined && stream.lastEventId === undefined) this.#lose(stream);
    else await this.#openAgain(stream);
  }

  async #openAgain(stream: Stream): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      const delayMs = Math.min(FIRST_RETRY_MS * RETRY_GROWTH ** failures, MAX_RETRY_MS);
      await pause(stream.retryMs ?? delayMs, undefined, { ref: false });
      if (this.#isOver(stream)) return;
      try {
        return await this.#open(stream);
      } catch (error) {
        this.#noteStreamError(stream, error);
        if (stream.about !== undefined && failures + 1 === MAX_FAILURES) return this.#lose(stream);
      }
    }
  }

  #receiveText(text: string, stream: Stream): void {
    try {
      const message = receivedMessage(JSON.parse(text), stream.about);
      if (!('method' in message) && message.id === stream.about) stream.isAnswered = true;
      this.onmessage?.(message, stream.about);
    } catch (error) {
      this.onerror?.(asError(error));
    }
  }

  #receiveAll(messages: readonly ReceivedMessage[], about: RequestId): void {
    for (const message of messages) this.onmessage?.(message, about);
    // In case the answer was not among them.
    this.onlost?.(about, new InvalidAnswerError());
  }

  #isOver({ isAnswered, signal }: Stream): boolean {
    return isAnswered || this.life.signal.aborted || signal?.aborted === true;
  }

  /** Fails the request, and the connection if the stream is of none: what was lost there nobody knows. */
  #giveUp({ about }: Stream, error: Error): void {
    if (about !== undefined) this.onlost?.(about, error);
    else this.fail(error.message);
  }

  #lose({ about }: Stream): void {
    if (about !== undefined) this.onlost?.(about);
  }

  #noteStreamError(stream: Stream, error: unknown): void {
    if (!this.#isOver(stream)) this.onerror?.(asError(error));
  }
}

function streamOf(about: RequestId | undefined, signal: AbortSignal | undefined): Stream {
  return { about, signal, lastEventId: undefined, retryMs: undefined, isAnswered: false };
}

function contentType({ headers }: Response): string | undefined {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
}

/** Some servers show people a page at this address. */
function isPage(response: Response): boolean {
  const type = contentType(response);
  return response.ok && type !== undefined && type !== EVENT_STREAM;
}

function offersNone(error: unknown): boolean {
  return error instanceof HttpStatusError && UNKNOWN_METHOD.includes(error.status);
}
