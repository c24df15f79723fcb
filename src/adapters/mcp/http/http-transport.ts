import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { failureText } from '../failure/failure-text.ts';
import type { Mask } from '../failure/secret-mask.ts';
import type { ServerTransport } from '../server-transport.ts';
import { settlesWithin } from '../settles-within.ts';

const TERMINATE_MS = 1_000;

/** One of the SDK's two HTTP transports. */
export interface SdkHttpTransport extends Transport {
  terminateSession?(): Promise<void>;
}

/** Adds to a transport of the SDK a reason for its end, and a `close` that tells the server. */
export class HttpTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  onstream?: () => void;

  readonly #inner: SdkHttpTransport;
  readonly #mask: Mask;
  #endReason: string | undefined;
  #closed = false;
  #ending: Promise<void> | undefined;

  constructor(inner: SdkHttpTransport, mask: Mask) {
    this.#inner = inner;
    this.#mask = mask;
  }

  get endReason(): string | undefined {
    return this.#endReason;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => this.onmessage?.(message);
    this.#inner.onerror = (error) => this.#noteError(error);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    await this.#inner.send(message, options);
  }

  fail(reason: string): void {
    if (this.#closed) return;
    this.#endReason = reason;
    this.#shut(() => this.#inner.close());
  }

  explain(reason: string): string {
    return reason;
  }

  async close(): Promise<void> {
    this.#shut(() => this.#sayGoodbye());
    await this.#ending;
  }

  #noteError(error: Error): void {
    this.onerror?.(error);
    // The older transport hears answers on this stream alone; a new stream would be a new session.
    if (error instanceof SseError)
      this.fail(`the server ended the stream: ${failureText(error, this.#mask)}`);
  }

  async #sayGoodbye(): Promise<void> {
    // Courtesy: a server that does not answer must not delay the end. A failure is told by `onerror`.
    if (this.#inner.terminateSession !== undefined) {
      await settlesWithin(this.#inner.terminateSession(), TERMINATE_MS);
    }
    await this.#inner.close();
  }

  #shut(end: () => Promise<void>): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ending = end();
    this.onclose?.();
  }
}
