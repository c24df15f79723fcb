import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { joinSockets } from './joined-sockets.ts';

/** Gives each new connection to one of its nodes at random, and knows nothing of sessions, HTTP or WebSocket. */
export class Balancer implements AsyncDisposable {
  readonly #random: () => number;
  readonly #server = createServer((socket) => this.#forward(socket));
  readonly #sockets = new Set<Socket>();
  readonly #ports: number[] = [];

  private constructor(random: () => number) {
    this.#random = random;
  }

  static async listen(random: () => number): Promise<Balancer> {
    const balancer = new Balancer(random);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the balancer does not listen');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @param port of a node that takes connections from now on. */
  add(port: number): void {
    this.#ports.push(port);
  }

  /** Connections that the node has stay as they are. */
  remove(port: number): void {
    const index = this.#ports.indexOf(port);
    if (index >= 0) this.#ports.splice(index, 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(client: Socket): void {
    this.#sockets.add(client);
    client.on('close', () => this.#sockets.delete(client));
    const port = this.#ports[Math.floor(this.#random() * this.#ports.length)];
    if (port === undefined) client.destroy();
    else joinSockets(client, connect(port, '127.0.0.1'));
  }
}
