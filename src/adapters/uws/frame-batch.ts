import type { RawSocket } from './raw-socket.ts';

/** The size of the buffer in which uWebSockets.js gathers frames for one system call. */
const BATCH_CHARACTERS = 16 * 1024;

/**
 * Frames to one socket that are sent in one go, such as the chunks of one read from the model service. They share one
 * system call, which costs ten times as much as a frame. No frame waits for a timer.
 */
export class FrameBatch {
  /** Null once the socket has closed. */
  #ws: RawSocket | null;
  /** Null while nothing waits to be sent. */
  #frames: string[] | null = null;
  #characters = 0;
  /** Whether uWebSockets.js had to buffer something when the last frames were sent. */
  #isBuffering = false;
  /** One function for all that is sent. */
  readonly #flushLater = (): void => this.flush();

  constructor(ws: RawSocket) {
    this.#ws = ws;
  }

  /** @returns false if the client does not read and the socket buffers what was sent before. */
  add(text: string): boolean {
    if (this.#frames) this.#frames.push(text);
    else {
      this.#frames = [text];
      queueMicrotask(this.#flushLater);
    }
    this.#characters += text.length;
    // Flushes now, so that a caller who sends much at once learns in time that the client does not keep up.
    if (this.#characters >= BATCH_CHARACTERS) this.flush();
    return !this.#isBuffering || this.#bufferedBytes() === 0;
  }

  /** Sends what waits. */
  flush(): void {
    const frames = this.#frames;
    const ws = this.#ws;
    if (ws === null || frames === null) return;
    this.#frames = null;
    this.#characters = 0;
    const [first = ''] = frames;
    if (frames.length === 1) ws.send(first, false);
    else
      ws.cork(() => {
        for (const text of frames) ws.send(text, false);
      });
    this.#isBuffering = this.#bufferedBytes() > 0;
  }

  /** Call it when the socket has closed. What waits is dropped. */
  closed(): void {
    this.#ws = null;
  }

  #bufferedBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0;
  }
}
