import type { Admission } from './admission.ts';
import type { ClientEnvironment, StreamSocket } from './client-environment.ts';
import { askWhyRefused, type HandshakeRefusal, noUpgrade } from './handshake-refusal.ts';
import { isUnnamedError, readFrame, type StreamFrame } from './read-frame.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { withTicket } from './stream-url.ts';

export interface StreamLinkDeps {
  readonly environment: ClientEnvironment;
  /** Gets a ticket for each connection; null for a client without a token. */
  readonly admission: Admission | null;
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
  /** Present while a ticket for the next connection is asked for. */
  #entering: AbortController | null = null;

  constructor(deps: StreamLinkDeps) {
    this.#deps = deps;
  }

  /** Connects, unless it is connected or already trying. */
  open(): void {
    if (this.#socket || this.#timer !== undefined || this.#entering) return;
    const { admission, url } = this.#deps;
    if (admission) void this.#enter(admission);
    else this.#connect(url());
  }

  /** The service has answered, so the delays begin again with the shortest one. */
  established(): void {
    this.#failures = 0;
    this.#wasConnected = true;
    this.#deps.admission?.established();
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Closes the connection, and stays closed until `open`. */
  close(): void {
    this.#asking.abort();
    this.#entering?.abort();
    this.#entering = null;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** Connects with a ticket. */
  async #enter(admission: Admission): Promise<void> {
    const entering = new AbortController();
    this.#entering = entering;
    try {
      const entry = await admission.enter(entering.signal);
      if (entering.signal.aborted) return;
      this.#entering = null;
      if ('refusal' in entry) this.#refused(entry.refusal);
      else this.#connect(withTicket(this.#deps.url(), entry.ticket));
    } catch (error) {
      if (!entering.signal.aborted) this.#deps.onError(error);
    }
  }

  #connect(url: string): void {
    this.#isAnswered = false;
    const socket = this.#deps.environment.openSocket(url);
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(socket, data));
    socket.addEventListener('close', () => this.#lose(socket));
    // When Node 22 cannot connect, it fires only `error`. Elsewhere `close` follows, and #lose ignores it.
    socket.addEventListener('error', () => this.#lose(socket));
  }

  #receive(socket: StreamSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#isAnswered = true;
    try {
      this.#take(readFrame(data));
    } catch (error) {
      this.#deps.onError(error);
    }
  }

  #take(frame: StreamFrame): void {
    const { admission, onFrame } = this.#deps;
    // The service closes the connection, because its token has ended.
    if (admission && isUnnamedError(frame) && frame.data.code === 'UNAUTHORIZED') admission.ended(frame.data);
    else onFrame(frame);
  }

  #lose(socket: StreamSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    const delayMs = this.#nextDelayMs();
    this.#reopenAfter(delayMs);
    this.#deps.onLost();
    if (!this.#isAnswered && this.#timer !== undefined) void this.#ask(delayMs);
  }

  #refused(refusal: HandshakeRefusal): void {
    if (refusal.isTemporary) this.#retry(refusal, this.#nextDelayMs());
    else this.#deps.onError(refusal.error);
  }

  #retry({ error, retryAfterMs }: HandshakeRefusal, delayMs: number): void {
    const waitMs = Math.max(delayMs, retryAfterMs);
    if (this.#timer === undefined || waitMs > delayMs) this.#reopenAfter(waitMs);
    this.#deps.onRetry(error, waitMs);
  }

  #nextDelayMs(): number {
    const delayMs = reconnectDelayMs(this.#failures, this.#deps.environment.random());
    this.#failures += 1;
    return delayMs;
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
    try {
      const refusal = await this.#whyRefused(signal);
      if (signal.aborted) return;
      if (refusal === null) {
        // The first time, it may just be the moment at which the service came back.
        if (!this.#wasConnected && this.#failures > 1) this.#retry(noUpgrade(this.#deps.url()), delayMs);
      } else if (refusal.isTemporary) this.#retry(refusal, delayMs);
      // The next attempt asks for another token.
      else if (!this.#deps.admission?.renew(refusal.error)) this.#deps.onError(refusal.error);
    } catch (error) {
      if (!signal.aborted) this.#deps.onError(error);
    }
  }

  async #whyRefused(signal: AbortSignal): Promise<HandshakeRefusal | null> {
    const { environment, admission, url } = this.#deps;
    const headers = admission ? await admission.headers() : { Accept: 'application/json' };
    const wasConnected = this.#wasConnected;
    return askWhyRefused({ url: url(), headers, fetch: environment.fetch, wasConnected, signal });
  }
}
