import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { ClientSocket } from '../../ports/client-socket.ts';
import type { SignalFrames, SignalReader } from './signal-frames.ts';

/** Close code for a client that does not read: "try again later". */
export const SLOW_READER_CODE = 1013;
const SLOW_READER_REASON = 'slow-reader: the client does not read what it is sent';

/** Beyond this, a client that does not read is disconnected. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/**
 * The client of one socket. If it does not read, it is given up: its socket is closed. So a socket buffers at most
 * `MAX_BUFFERED_BYTES` and one frame.
 */
export class Recipient implements SignalReader {
  protected readonly socket: ClientSocket;
  /** Whether the socket buffered the last frame. */
  #behind = false;
  #givenUp = false;

  constructor(socket: ClientSocket) {
    this.socket = socket;
  }

  /** Whether the socket was closed because the client does not read. */
  get givenUp(): boolean {
    return this.#givenUp;
  }

  hear(_signal: SessionSignal, frames: SignalFrames): void {
    if (frames.plain !== null) this.send(frames.plain);
  }

  send(frame: string): void {
    if (this.#behind) this.giveUpIfSlow();
    if (!this.#givenUp) this.#behind = !this.socket.send(frame);
  }

  /** The same client as a reader that also gets the reasoning of the model. */
  withReasoning(): SignalReader {
    return {
      hear: (_signal, { withReasoning }) => {
        if (withReasoning !== null) this.send(withReasoning);
      },
    };
  }

  /** The publisher of the topic must call `giveUpIfSlow` from time to time. */
  subscribe(topic: string): void {
    this.socket.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.socket.unsubscribe(topic);
  }

  /** @param comingBytes may still reach the socket before the next call. */
  giveUpIfSlow(comingBytes = 0): void {
    if (this.#givenUp || this.socket.bufferedBytes() + comingBytes <= MAX_BUFFERED_BYTES) return;
    this.#givenUp = true;
    this.socket.end(SLOW_READER_CODE, SLOW_READER_REASON);
  }
}
