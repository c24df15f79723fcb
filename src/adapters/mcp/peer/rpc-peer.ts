import type { JsonObject } from '../../../core/json-object.ts';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import { settlesWithin } from '../../../timing/deadline.ts';
import type { SendOptions, ServerTransport } from '../server-transport.ts';
import type { ReceivedMessage } from './received-message.ts';
import { RequestTimeout } from './request-timeout.ts';
import { AnswerLostError, ConnectionEndedError, RequestTimeoutError } from './rpc-errors.ts';
import {
  JSON_RPC,
  type RequestId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
} from './rpc-message.ts';

/** Longest wait for a server to take a cancellation, before the stream of the request is closed. */
const CANCEL_MS = 10_000;
/** How long a server has to end the stream of a request that is settled. A stream that ends by itself keeps its socket usable. */
const STREAM_END_MS = 1_000;

/** What the other end sends by itself. `about` is the request on whose stream it came, where the transport knows. */
export interface PeerEvents {
  /** Resolves with the result. Rejects with a `JsonRpcError` to refuse. */
  onRequest(request: RpcRequest, about: RequestId | undefined, signal: AbortSignal): Promise<JsonObject>;
  onNotification(notification: RpcNotification, about: RequestId | undefined): void;
  /** The server has answered a request that was given up. */
  onLateAnswer(id: RequestId): void;
  /** Something went wrong that concerns no single request. */
  onError(error: Error): void;
  onClosed(): void;
}

export interface PeerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

export interface PeerRequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The parameters of each progress notification. Each one begins the time-out anew. */
  readonly onProgress?: (params: JsonObject) => void;
  /** Headers of HTTP for this request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The request is of a stateless era: over HTTP, it is cancelled by the end of its stream. */
  readonly stateless?: boolean;
  /** The request was given up, and the other end may still be working on it. */
  readonly onAbandoned?: () => void;
}

interface Pending {
  readonly timeout: RequestTimeout;
  readonly onProgress: PeerRequestOptions['onProgress'];
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** One end of JSON-RPC over a transport. It leaves parameters and results as they are. */
export class RpcPeer {
  readonly #transport: ServerTransport;
  readonly #events: PeerEvents;
  readonly #pending = new Map<RequestId, Pending>();
  /** Requests of the other end that are being answered. */
  readonly #answering = new Map<RequestId, AbortController>();
  #lastId = 0;

  constructor(transport: ServerTransport, events: PeerEvents) {
    this.#transport = transport;
    this.#events = events;
    transport.onmessage = (message, about) => this.#receive(message, about);
    transport.onerror = (error) => events.onError(error);
    transport.onclose = () => this.#end();
    transport.onlost = (id, error = new AnswerLostError()) => this.#pending.get(id)?.reject(error);
  }

  newId(): RequestId {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Rejects with a `JsonRpcError` if the other end answers with an error. */
  async request({ id, method, params }: PeerRequest, options: PeerRequestOptions): Promise<JsonObject> {
    const { timeoutMs, signal, onProgress } = options;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const stream = new AbortController();
    const hasStream = this.#transport.hasRequestStreams === true;
    let isGivenUp = false;
    const giveUp = (error: Error): void => {
      isGivenUp = true;
      options.onAbandoned?.();
      if (options.stateless === true && hasStream) stream.abort();
      // Some servers leave the stream of a cancelled request open, others close it without an answer.
      else
        void settlesWithin(CANCEL_MS, this.#cancel({ id, method, params }, error.message)).then(() =>
          stream.abort(),
        );
      reject(error);
    };
    const abort = (): void => giveUp(new Error('the call was cancelled'));
    const timeout = new RequestTimeout(timeoutMs, () => giveUp(new RequestTimeoutError(timeoutMs)));
    this.#pending.set(id, { timeout, onProgress, resolve, reject });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const message = { jsonrpc: JSON_RPC, id, method, params } as const;
      this.#transport
        .send(message, sendOptions(options, hasStream ? stream.signal : undefined))
        .catch(reject);
      return await promise;
    } finally {
      timeout.end();
      signal?.removeEventListener('abort', abort);
      this.#pending.delete(id);
      // Some servers never end it.
      if (hasStream && !isGivenUp) setTimeout(() => stream.abort(), STREAM_END_MS).unref();
    }
  }

  /**
   * The other end waits for an answer before it goes on with this request of ours, so its time-out does not run.
   * @returns what to call when the answer is given.
   */
  suspendTimeout(id: RequestId): () => void {
    return this.#pending.get(id)?.timeout.suspend() ?? (() => undefined);
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#transport.send({ jsonrpc: JSON_RPC, method, ...(params && { params }) });
  }

  /** The protocol forbids to cancel the handshake. Never rejects. */
  async #cancel({ id, method }: PeerRequest, reason: string): Promise<void> {
    if (method === 'initialize') return;
    const notification = this.notify('notifications/cancelled', { requestId: id, reason });
    await notification.catch((error: Error) => this.#events.onError(error));
  }

  #receive(message: ReceivedMessage, about: RequestId | undefined): void {
    if ('method' in message) {
      if ('id' in message) void this.#answer(message, about);
      else this.#hear(message, about);
      return;
    }
    const id = message.id ?? undefined;
    const pending = this.#pendingOf(id);
    if (pending === undefined) this.#noteStray(message, id);
    else if ('invalid' in message) pending.reject(message.invalid);
    else if ('result' in message) pending.resolve(message.result);
    else pending.reject(new JsonRpcError(message.error.code, message.error.message, message.error.data));
  }

  #noteStray(message: ReceivedMessage, id: RequestId | undefined): void {
    if (id !== undefined) this.#events.onLateAnswer(id);
    else if ('invalid' in message) this.#events.onError(message.invalid);
    else if ('error' in message) this.#events.onError(new Error(message.error.message));
  }

  #hear(notification: RpcNotification, about: RequestId | undefined): void {
    const { method, params } = notification;
    if (method === 'notifications/progress') {
      const pending = this.#pendingOf(params?.progressToken);
      if (pending === undefined || params === undefined) return;
      pending.timeout.restart();
      pending.onProgress?.(params);
    } else if (method === 'notifications/cancelled') {
      const id = params?.requestId;
      if (typeof id === 'string' || typeof id === 'number') this.#answering.get(id)?.abort();
    } else {
      this.#events.onNotification(notification, about);
    }
  }

  #pendingOf(id: unknown): Pending | undefined {
    return typeof id === 'string' || typeof id === 'number' ? this.#pending.get(id) : undefined;
  }

  async #answer(request: RpcRequest, about: RequestId | undefined): Promise<void> {
    const { id } = request;
    const cancelled = new AbortController();
    this.#answering.set(id, cancelled);
    const answer = await this.#events.onRequest(request, about, cancelled.signal).then(
      (result): RpcMessage => ({ jsonrpc: JSON_RPC, id, result: { ...result } }),
      (error: unknown): RpcMessage => ({ jsonrpc: JSON_RPC, id, error: rpcError(error) }),
    );
    this.#answering.delete(id);
    if (cancelled.signal.aborted) return;
    await this.#transport.send(answer).catch((error: Error) => this.#events.onError(error));
  }

  #end(): void {
    this.#events.onClosed();
    for (const { reject } of this.#pending.values()) reject(new ConnectionEndedError());
    for (const cancelled of this.#answering.values()) cancelled.abort();
  }
}

function sendOptions(
  { headers, stateless }: PeerRequestOptions,
  signal: AbortSignal | undefined,
): SendOptions {
  return { ...(headers && { headers }), ...(stateless && { stateless }), ...(signal && { signal }) };
}

/** What went wrong inside of this service is nothing for a tool server. */
function rpcError(error: unknown) {
  if (!(error instanceof JsonRpcError))
    return { code: RPC.internalError, message: 'the client could not answer' };
  const { code, message, data } = error;
  return { code, message, ...(data !== undefined && { data }) };
}
