import { asError } from '../../../core/thrown.ts';
import { failureText } from '../failure/failure-text.ts';
import { MessageTooLargeError } from '../message-limit.ts';
import { receivedMessage } from '../peer/received-message.ts';
import type { RpcMessage } from '../peer/rpc-message.ts';
import { readEvents } from './event-stream.ts';
import { HttpStatusError } from './http-status-error.ts';
import { HttpTransport } from './http-transport.ts';

/** MCP over HTTP with SSE, as servers had it before Streamable HTTP: all messages of the server come on one stream. */
export class SseTransport extends HttpTransport {
  readonly #target = Promise.withResolvers<URL>();

  /** Resolves when the server has said where to send messages. */
  async start(): Promise<void> {
    const response = await this.openStream(this.endpoint.url);
    if (!response.ok || response.body === null) throw await HttpStatusError.of(response);
    void this.#read(response.body);
    await this.#target.promise;
  }

  async send(message: RpcMessage): Promise<void> {
    try {
      const response = await this.post(await this.#target.promise, message);
      if (!response.ok) throw await HttpStatusError.of(response);
      await response.body?.cancel();
    } catch (error) {
      if (!this.life.signal.aborted) this.onerror?.(asError(error));
      throw error;
    }
  }

  /** A new stream would be a new session, so the connection ends with the stream. */
  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reason = await readEvents(body, {
      onEvent: ({ event, data }) => (event === 'endpoint' ? this.#setTarget(data) : this.#receive(data)),
    }).then(
      () => 'the server ended the stream',
      (error: unknown) => {
        const text = failureText(error, this.endpoint.mask);
        return error instanceof MessageTooLargeError ? text : `the server ended the stream: ${text}`;
      },
    );
    this.#target.promise.catch(() => undefined);
    this.#target.reject(new Error(reason));
    this.fail(reason);
  }

  #setTarget(address: string): void {
    const { url } = this.endpoint;
    const target = URL.canParse(address, url.href) ? new URL(address, url) : undefined;
    // The messages carry credentials.
    if (target?.origin === url.origin) this.#target.resolve(target);
    else this.#target.reject(new Error('the server wants its messages at another origin'));
  }

  #receive(data: string): void {
    try {
      this.onmessage?.(receivedMessage(JSON.parse(data)));
    } catch (error) {
      this.onerror?.(asError(error));
    }
  }
}
