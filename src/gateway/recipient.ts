import type { ClientSocket } from '../ports/client-socket.ts';

/** Close code of a client that does not read: "try again later". */
export const SLOW_READER_CODE = 1013;
const SLOW_READER_REASON = 'slow-reader: the client does not read what it is sent';

/** Beyond it a client that does not read gets nothing more. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/**
 * The client at the far end of a socket. One that does not read what it is sent is given up, whatever it is
 * sent for, so that a socket keeps no more than the bound and one frame.
 */
export class Recipient {
  readonly #socket: ClientSocket;
  /** Whether the socket had to keep the last frame. */
  #behind = false;
  #givenUp = false;

  constructor(socket: ClientSocket) {
    this.#socket = socket;
  }

  send(frame: string): void {
    if (this.#givenUp) return;
    if (this.#behind && this.#socket.bufferedBytes() > MAX_BUFFERED_BYTES) {
      this.#givenUp = true;
      this.#socket.end(SLOW_READER_CODE, SLOW_READER_REASON);
    } else {
      this.#behind = !this.#socket.send(frame);
    }
  }
}
