import { isDeepStrictEqual } from 'node:util';
import { ServerFrame } from '../../../src/wire/frames.ts';

interface Waiter {
  readonly done: (frames: ServerFrame[]) => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A plain WebSocket client: Node's own, nothing of the project. */
export class Client implements Disposable {
  readonly #socket: WebSocket;
  /** Every frame so far, each checked against the contract. */
  readonly frames: ServerFrame[] = [];
  #waiting: Waiter[] = [];
  #isClosed = false;
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    this.closed = new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }));
    void this.closed.then(({ code }) => {
      this.#isClosed = true;
      for (const { reject } of this.#waiting) reject(this.#lost(code));
    });
  }

  /** An object is sent as JSON, a string or bytes as they are. */
  send(frame: object | string): void {
    this.#socket.send(
      typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame),
    );
  }

  say(content: string, more: object = {}): void {
    this.send({ type: 'message', content, ...more });
  }

  /** Resolves to all frames as soon as they satisfy `done`; fails when the socket closes before. */
  async until(done: (frames: ServerFrame[]) => boolean): Promise<ServerFrame[]> {
    if (!done(this.frames)) {
      if (this.#isClosed) throw this.#lost((await this.closed).code);
      await new Promise<void>((resolve, reject) => this.#waiting.push({ done, resolve, reject }));
    }
    return this.frames;
  }

  /** Resolves when `count` turns are settled, by `response` or `error`. */
  settled(count = 1): Promise<ServerFrame[]> {
    return this.until((frames) => frames.filter(isSettling).length >= count);
  }

  close(): void {
    this.#socket.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #receive(text: string): void {
    // Only the fields of the interface: nothing else may be on the wire.
    const sent: unknown = JSON.parse(text);
    const frame = ServerFrame.parse(sent);
    if (!isDeepStrictEqual(frame, sent)) throw new Error(`a frame has more than the interface: ${text}`);
    this.frames.push(frame);
    this.#waiting = this.#waiting.filter(({ done, resolve }) => {
      if (!done(this.frames)) return true;
      resolve();
      return false;
    });
  }

  #lost(code: number): Error {
    const events = this.frames.map(({ event }) => event).join(', ');
    return new Error(`the socket closed with ${code} after ${events || 'no frame'}`);
  }
}

export const isSettling = ({ event }: ServerFrame): boolean => event === 'response' || event === 'error';

/** Resolves when the socket is open; rejects when the handshake is refused. */
export async function connectClient(url: string): Promise<Client> {
  const socket = new WebSocket(url);
  const client = new Client(socket);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), { once: true });
  });
  return client;
}
