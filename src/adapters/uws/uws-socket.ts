import type { WebSocket } from 'uWebSockets.js';
import type { ClientSocket } from '../../ports/client-socket.ts';

/** A uWebSockets.js socket that may be called after it has closed: uWebSockets.js itself throws then. */
export class UwsSocket implements ClientSocket {
  readonly #ws: WebSocket<unknown>;
  #open = true;

  constructor(ws: WebSocket<unknown>) {
    this.#ws = ws;
  }

  send(text: string): boolean {
    return !this.#open || this.#ws.send(text, false) === SENT;
  }

  bufferedBytes(): number {
    return this.#open ? this.#ws.getBufferedAmount() : 0;
  }

  /** For uWebSockets.js the socket is closed at once; what is kept still goes out, as long as the client takes some of it every few seconds. */
  end(code: number, reason: string): void {
    if (this.#open) this.#ws.end(code, reason);
  }

  /** To be called when the socket has closed. */
  closed(): void {
    this.#open = false;
  }
}

/** `send` answers 1 for sent, 0 for kept, 2 for dropped. */
const SENT = 1;
