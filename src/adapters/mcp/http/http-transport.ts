import { settlesWithin } from '../../../timing/deadline.ts';
import type { ReceivedMessage } from '../peer/received-message.ts';
import type { RequestId, RpcMessage } from '../peer/rpc-message.ts';
import type { SendOptions, ServerTransport } from '../server-transport.ts';
import type { HttpEndpoint } from './http-endpoint.ts';

/** A server that does not answer must not delay the end. */
const TERMINATE_MS = 1_000;
/** Within this time a server takes a message that is not answered: a notification, or the answer to a question of its own. */
const TAKEN_MS = 60_000;
const POST = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** What both transports of MCP over HTTP share: they end once, for a reason, and abort what is under way. */
export abstract class HttpTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: ReceivedMessage, about?: RequestId) => void;
  onstream?: () => void;
  onlost?: (id: RequestId, error?: Error) => void;
  protected readonly endpoint: HttpEndpoint;
  /** Aborts when the connection ends. */
  protected readonly life = new AbortController();
  #endReason: string | undefined;
  #ending: Promise<void> | undefined;

  constructor(endpoint: HttpEndpoint) {
    this.endpoint = endpoint;
  }

  get endReason(): string | undefined {
    return this.#endReason;
  }

  abstract start(): Promise<void>;
  abstract send(message: RpcMessage, options?: SendOptions): Promise<void>;

  fail(reason: string): void {
    if (this.#ending !== undefined) return;
    this.#endReason = reason;
    this.#end(Promise.resolve());
  }

  explain(reason: string): string {
    return reason;
  }

  async close(): Promise<void> {
    if (this.#ending === undefined) this.#end(this.#sayGoodbye());
    await this.#ending;
  }

  /** Tells the server that the client leaves. */
  protected goodbye(): Promise<unknown> | undefined {
    return undefined;
  }

  protected async post(url: URL, message: RpcMessage, options: SendOptions = {}): Promise<Response> {
    const { signal, headers } = options;
    const signals = signal ? [signal, this.life.signal] : [this.life.signal];
    // A request ends with its own limit. Nobody waits for anything else, and its socket would stay open.
    if (!('method' in message && 'id' in message)) signals.push(AbortSignal.timeout(TAKEN_MS));
    return await this.endpoint.fetch(url, {
      method: 'POST',
      headers: { ...this.endpoint.headers, ...headers, ...POST },
      body: JSON.stringify(message),
      signal: AbortSignal.any(signals),
    });
  }

  protected async openStream(url: URL, headers: Record<string, string> = {}, signal?: AbortSignal) {
    return await this.endpoint.fetch(url, {
      method: 'GET',
      headers: { ...this.endpoint.headers, ...headers, accept: 'text/event-stream' },
      signal: signal ? AbortSignal.any([signal, this.life.signal]) : this.life.signal,
    });
  }

  async #sayGoodbye(): Promise<void> {
    const goodbye = this.goodbye();
    if (goodbye !== undefined) await settlesWithin(TERMINATE_MS, goodbye);
  }

  #end(goodbye: Promise<void>): void {
    this.#ending = goodbye.finally(() => this.life.abort());
    this.onclose?.();
  }
}
