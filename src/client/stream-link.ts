import type { ResumableFrame } from '../wire/frames.ts';
import type { ClientEnvironment, StreamSocket } from './client-environment.ts';
import { readFrame } from './read-frame.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';

export interface StreamLinkParts {
  readonly environment: ClientEnvironment;
  /** Where to connect to now. */
  readonly url: () => string;
  readonly onFrame: (frame: ResumableFrame) => void;
  /** The connection was lost, or could not be had. It is tried again, for ever. */
  readonly onLost: () => void;
  /** What came cannot be read. */
  readonly onError: (error: unknown) => void;
}

/**
 * One connection after the other to the same session: a lost one is replaced, after a while that grows.
 * Why a handshake was refused a browser does not tell, so every reason is taken for one that passes.
 */
export class StreamLink {
  readonly #parts: StreamLinkParts;
  #socket: StreamSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(parts: StreamLinkParts) {
    this.#parts = parts;
  }

  /** Connects, unless it does already. */
  open(): void {
    if (this.#socket || this.#timer !== undefined) return;
    const socket = this.#parts.environment.openSocket(this.#parts.url());
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(socket, data));
    socket.addEventListener('close', () => this.#lose(socket));
    // Node 22 says only this when it cannot connect; elsewhere a `close` follows, which then is of no socket.
    socket.addEventListener('error', () => this.#lose(socket));
  }

  /** The service has answered: the next connection that is lost is the first one. */
  established(): void {
    this.#failures = 0;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Ends the connection, and tries for no other until it is opened again. */
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
      this.#parts.onFrame(readFrame(data));
    } catch (error) {
      this.#parts.onError(error);
    }
  }

  #lose(socket: StreamSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    const delayMs = reconnectDelayMs(this.#failures, this.#parts.environment.random());
    this.#failures += 1;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.open();
    }, delayMs);
    this.#parts.onLost();
  }
}
