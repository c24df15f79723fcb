import { type SSEClientTransportOptions, SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import type { StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { HttpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import { settlesWithin } from '../../../timing/deadline.ts';
import { failureText } from '../failure/failure-text.ts';
import { type Mask, percentDecoded } from '../failure/secret-mask.ts';
import { authorizedFetch } from '../oauth/authorized-fetch.ts';
import type { ServerAccess } from '../oauth/server-access.ts';
import { RpcMessage } from '../peer/rpc-message.ts';
import type { ServerTransport } from '../server-transport.ts';
import { fetchNotingStreams } from './http-fetch.ts';

const TERMINATE_MS = 1_000;

type HttpConfig = z.infer<typeof HttpServerConfig>;

/** One of the SDK's two HTTP transports. */
interface SdkHttpTransport extends Transport {
  terminateSession?(): Promise<void>;
}

export type SdkTransportClass = new (
  url: URL,
  options: StreamableHTTPClientTransportOptions & SSEClientTransportOptions,
) => SdkHttpTransport;

export interface HttpTransportOptions {
  readonly config: HttpConfig;
  readonly mask: Mask;
  /** Authorizes the requests; null if a 401 is an error. */
  readonly access: ServerAccess | null;
}

/** @param Inner the SDK's transport for Streamable HTTP, or the older one for HTTP with SSE. */
export function httpTransport(
  Inner: SdkTransportClass,
  { config, mask, access }: HttpTransportOptions,
): ServerTransport {
  const { url, headers } = endpointOf(config);
  const plain = fetchNotingStreams(() => transport.onstream?.());
  const fetch = access === null ? plain : authorizedFetch(access, plain);
  const transport = new HttpTransport(new Inner(url, { requestInit: { headers }, fetch }), mask);
  return transport;
}

/** Whether a 401 begins OAuth. A server with configured credentials refuses those, unless OAuth is configured, too. */
export function asksForOAuth(config: HttpConfig): boolean {
  if (config.oauth !== undefined) return config.oauth !== false;
  return !Object.keys(endpointOf(config).headers).some(isAuthorization);
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}

interface Endpoint {
  /** Without user and password: `fetch` refuses them, and they must not show in an error. */
  readonly url: URL;
  readonly headers: Record<string, string>;
}

/** Turns the credentials of a URL into an `Authorization` header. A configured header wins. */
function endpointOf(config: HttpConfig): Endpoint {
  const url = new URL(config.baseUrl);
  const headers = { ...config.headers };
  const isAuthorized = Object.keys(headers).some(isAuthorization);
  if (!isAuthorized && (url.username !== '' || url.password !== '')) {
    const credentials = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  url.username = '';
  url.password = '';
  return { url, headers };
}

/** Adds to a transport of the SDK a reason for its end, and a `close` that tells the server. */
class HttpTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: RpcMessage) => void;
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

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => this.onmessage?.(RpcMessage.parse(message));
    this.#inner.onerror = (error) => this.#noteError(error);
    await this.#inner.start();
  }

  async send(message: RpcMessage): Promise<void> {
    await this.#inner.send(JSONRPCMessageSchema.parse(message));
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
    this.#shut(() => this.#terminate());
    await this.#ending;
  }

  #noteError(error: Error): void {
    this.onerror?.(error);
    // The older transport gets all answers on this one stream; a new stream would be a new session.
    if (error instanceof SseError)
      this.fail(`the server ended the stream: ${failureText(error, this.#mask)}`);
  }

  async #terminate(): Promise<void> {
    // A server that does not answer must not delay the end. Failures reach `onerror`.
    if (this.#inner.terminateSession !== undefined)
      await settlesWithin(TERMINATE_MS, this.#inner.terminateSession());
    await this.#inner.close();
  }

  #shut(end: () => Promise<void>): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ending = end();
    this.onclose?.();
  }
}
