import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Forwards connections to a port of this machine, until the test severs the link, and again once it restores it. */
export class SeverableLink implements AsyncDisposable {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#forward(socket));
  #port = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  static async to(target: number): Promise<SeverableLink> {
    const link = new SeverableLink(target);
    await link.restore();
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Breaks all connections and refuses new ones. */
  async sever(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  /** Accepts connections again, on the same port. */
  async restore(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    this.#port = address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.sever();
  }

  #forward(client: Socket): void {
    const service = connect(this.#target, '127.0.0.1');
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.pipe(other);
      // A broken connection ends both halves; that it broke is what the test wants.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
