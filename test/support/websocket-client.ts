import { z } from 'zod';
import { ServerFrame } from '../../src/contract/frames.ts';

const AnyFrame = z.object({ event: z.string(), data: z.record(z.string(), z.unknown()) });

/** A plain WebSocket client: Node's own, nothing of the project. */
export class Client implements Disposable {
  readonly #socket: WebSocket;
  /** Every frame so far, each checked against the contract. */
  readonly frames: ServerFrame[] = [];
  #waiting: { done: (frames: ServerFrame[]) => boolean; resolve: () => void }[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    this.closed = new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }));
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
      const reached = new Promise<void>((resolve) => this.#waiting.push({ done, resolve }));
      const lost = this.closed.then(({ code }) => {
        throw new Error(`the socket closed with ${code} after ${JSON.stringify(this.frames)}`);
      });
      await Promise.race([reached, lost]);
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
    const frame = ServerFrame.parse(AnyFrame.strict().parse(JSON.parse(text)));
    this.frames.push(frame);
    this.#waiting = this.#waiting.filter(({ done, resolve }) => {
      if (!done(this.frames)) return true;
      resolve();
      return false;
    });
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
