import { z } from 'zod';
import { eventually } from '../project/eventually.ts';

const Frame = z.looseObject({ event: z.string() });
export type Frame = z.infer<typeof Frame>;

/** A WebSocket that keeps every frame as it came, checked against nothing. */
export class RecordingSocket implements Disposable {
  readonly #socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly opened: Promise<void>;
  readonly closed: Promise<void>;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.addEventListener('message', ({ data }) => {
      this.frames.push(Frame.parse(JSON.parse(String(data))));
    });
    this.closed = new Promise((resolve) =>
      this.#socket.addEventListener('close', () => resolve(), { once: true }),
    );
    this.opened = new Promise((resolve, reject) => {
      this.#socket.addEventListener('open', () => resolve(), { once: true });
      this.#socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), {
        once: true,
      });
    });
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Resolves when so many frames of the event have come. */
  async until(event: string, count = 1): Promise<void> {
    await this.opened;
    await eventually(
      async () => this.frames.filter((frame) => frame.event === event).length,
      (seen) => seen >= count,
    );
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
