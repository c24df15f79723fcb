import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { ClientSocket } from '../../ports/client-socket.ts';
import type { SignalFrames, SignalReader } from './signal-frames.ts';

/** Close code of a client that does not read: "try again later". */
export const SLOW_READER_CODE = 1013;
const SLOW_READER_REASON = 'slow-reader: the client does not read what it is sent';

/** Beyond it a client that does not read gets nothing more. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/**
 * The client at the far end of a socket. One that does not read what it is sent is given up, whatever it is
 * sent for, so that a socket keeps no more than the bound and one frame.
 */
export class Recipient implements SignalReader {
  readonly #socket: ClientSocket;
  /** Whether the socket had to keep the last frame. */
  #behind = false;
  #givenUp = false;

  constructor(socket: ClientSocket) {
    this.#socket = socket;
  }

  /** Whether it was closed because it does not read. */
  get givenUp(): boolean {
    return this.#givenUp;
  }

  hear(_signal: SessionSignal, frames: SignalFrames): void {
    if (frames.plain !== null) this.send(frames.plain);
  }

  send(frame: string): void {
    if (this.#behind) this.giveUpIfSlow();
    if (!this.#givenUp) this.#behind = !this.#socket.send(frame);
  }

  /** The same client, as one that hears the model's reasoning as well. */
  withReasoning(): SignalReader {
    return {
      hear: (_signal, { withReasoning }) => {
        if (withReasoning !== null) this.send(withReasoning);
      },
    };
  }

  /** What is published on the topic is sent to it by whoever publishes, and `giveUpIfSlow` called now and then. */
  subscribe(topic: string): void {
    this.#socket.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.#socket.unsubscribe(topic);
  }

  /** @param comingBytes what the socket may be sent before this is called again. */
  giveUpIfSlow(comingBytes = 0): void {
    if (this.#givenUp || this.#socket.bufferedBytes() + comingBytes <= MAX_BUFFERED_BYTES) return;
    this.#givenUp = true;
    this.#socket.end(SLOW_READER_CODE, SLOW_READER_REASON);
  }
}
