import type { ResumableFrame } from '../wire/frames.ts';
import type { ClientEnvironment, StreamSocket } from './client-environment.ts';
import { readFrame } from './read-frame.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';

export interface StreamLinkDeps {
  readonly environment: ClientEnvironment;
  /** The URL of the next connection. */
  readonly url: () => string;
  readonly onFrame: (frame: ResumableFrame) => void;
  /** The connection broke or could not be opened. The link keeps trying. */
  readonly onLost: () => void;
  /** `onFrame` threw, or the service sent something that is not a frame. */
  readonly onError: (error: unknown) => void;
}

/**
 * The connection to a session. A lost connection is replaced after a growing delay. Browsers do not say why a handshake
 * was refused, so the link treats every refusal as temporary and tries for ever.
 */
export class StreamLink {
  readonly #deps: StreamLinkDeps;
  #socket: StreamSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(deps: StreamLinkDeps) {
    this.#deps = deps;
  }

  /** Connects, unless it is connected or already trying. */
  open(): void {
    if (this.#socket || this.#timer !== undefined) return;
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
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Closes the connection, and stays closed until `open`. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #receive(socket: StreamSocket, data: unknown): void {
    if (socket !== this.#socket) return;
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
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.open();
    }, delayMs);
    this.#deps.onLost();
  }
}
