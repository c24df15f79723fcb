import type { ClientEnvironment, StreamSocket } from './client-environment.ts';
import { askWhyRefused, type HandshakeRefusal } from './handshake-refusal.ts';
import { readFrame, type StreamFrame } from './read-frame.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';

export interface StreamLinkDeps {
  readonly environment: ClientEnvironment;
  /** The URL of the next connection. */
  readonly url: () => string;
  readonly onFrame: (frame: StreamFrame) => void;
  /** The connection broke or could not be opened. The link keeps trying. */
  readonly onLost: () => void;
  /** Why the last attempt failed. The link tries again after the delay. */
  readonly onRetry: (error: HandshakeRefusal['error'], delayMs: number) => void;
  /** `onFrame` threw, the service sent something that is not a frame, or it refused the connection for good. */
  readonly onError: (error: unknown) => void;
}

/**
 * The connection to a session. A lost connection is replaced after a growing delay. If a new connection fails before its
 * first frame, the link asks over HTTP for the reason: it gives up when no later attempt can succeed.
 */
export class StreamLink {
  readonly #deps: StreamLinkDeps;
  #socket: StreamSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** Whether the present connection has brought a frame. */
  #isAnswered = false;
  #wasConnected = false;
  /** Ends the question why the last attempt failed. */
  #asking = new AbortController();

  constructor(deps: StreamLinkDeps) {
    this.#deps = deps;
  }

  /** Connects, unless it is connected or already trying. */
  open(): void {
    if (this.#socket || this.#timer !== undefined) return;
    this.#isAnswered = false;
    const socket = this.#deps.environment.openSocket(this.#deps.url());
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(socket, data));
    socket.addEventListener('close', () => this.#lose(socket));
    // When Node 22 cannot connect, it fires only `error`. Elsewhere `close` follows, and #lose ignores it.
    socket.addEventListener('error', () => this.#lose(socket));
  }

  /** The service has answered, so the delays begin again with the shortest one. */
  established(): void {
    this.#failures = 0;
    this.#wasConnected = true;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Closes the connection, and stays closed until `open`. */
  close(): void {
    this.#asking.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #receive(socket: StreamSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#isAnswered = true;
    try {
      this.#deps.onFrame(readFrame(data));
    } catch (error) {
      this.#deps.onError(error);
    }
  }

  #lose(socket: StreamSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    const delayMs = reconnectDelayMs(this.#failures, this.#deps.environment.random());
    this.#failures += 1;
    this.#reopenAfter(delayMs);
    this.#deps.onLost();
    if (!this.#isAnswered && this.#timer !== undefined) void this.#ask(delayMs);
  }

  #reopenAfter(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#asking.abort();
      this.open();
    }, delayMs);
  }

  /** The delay goes on meanwhile. The next attempt ends the question. */
  async #ask(delayMs: number): Promise<void> {
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { environment, url, onRetry, onError } = this.#deps;
    const question = { url: url(), fetch: environment.fetch, wasConnected: this.#wasConnected, signal };
    const refusal = await askWhyRefused(question);
    if (refusal === null || signal.aborted) return;
    if (!refusal.isTemporary) return onError(refusal.error);
    const waitMs = Math.max(delayMs, refusal.retryAfterMs);
    if (waitMs > delayMs) this.#reopenAfter(waitMs);
    onRetry(refusal.error, waitMs);
  }
}
