import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Forwards connections to a port of this machine, until the test severs the link, and again once it restores it. */
export class SeverableLink implements AsyncDisposable {
  #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#forward(socket));
  #port = 0;
  /** How many more answers arrive before one is cut off. */
  #answersLeft = Infinity;
  #isMute = false;

  private constructor(target: number) {
    this.#target = target;
  }

  static async to(target: number): Promise<SeverableLink> {
    const link = new SeverableLink(target);
    await link.restore();
    return link;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Breaks all connections, once, instead of forwarding what the service says after so many more pieces. */
  cutAfterAnswers(count: number): void {
    this.#answersLeft = count;
  }

  /** Forwards nothing any more, like a network that drops what is sent. Connections stay, and new ones are accepted. */
  mute(): void {
    this.#isMute = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** The same for the connections that are there; later ones are forwarded. */
  muteOpen(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  /** Forwards all that was sent meanwhile, too. */
  unmute(): void {
    this.#isMute = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Breaks all connections and refuses new ones. */
  async sever(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  /** Forwards later connections to another port. */
  leadTo(target: number): void {
    this.#target = target;
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
    service.on('data', (piece: Buffer) => this.#answer(piece, { client, service }));
    service.on('end', () => client.end());
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      this.#sockets.add(socket);
      if (socket === client) socket.pipe(other);
      if (this.#isMute) socket.pause();
      // A broken connection ends both halves; that it broke is what the test wants.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }

  #answer(piece: Buffer, { client, service }: { client: Socket; service: Socket }): void {
    if (this.#answersLeft === 0) {
      this.#answersLeft = Infinity;
      for (const socket of this.#sockets) socket.destroy();
      return;
    }
    this.#answersLeft -= 1;
    if (client.write(piece)) return;
    service.pause();
    client.once('drain', () => service.resume());
  }
}
