import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { shareEnds } from './joined-sockets.ts';

/** Seen from the node. */
export type Direction = 'outwards' | 'inwards';

interface Connection {
  readonly node: Socket;
  readonly engine: Socket;
}

/** The way of one node to its database or bus. A test cuts it, or stalls one direction or both. */
export class PartitionedLink implements AsyncDisposable {
  readonly #target: number;
  readonly #server = createServer((socket) => this.#forward(socket));
  readonly #connections = new Set<Connection>();
  readonly #stalled = new Set<Direction>();
  #port = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  static async to(target: number): Promise<PartitionedLink> {
    const link = new PartitionedLink(target);
    await link.#listen();
    return link;
  }

  /** The same for its whole life. */
  get port(): number {
    return this.#port;
  }

  /** Breaks all connections and refuses new ones. */
  async cut(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { node, engine } of this.#connections) {
      node.destroy();
      engine.destroy();
    }
    await closed;
  }

  /** Like a network that drops what is sent this way: the connections stay, and new ones are accepted. */
  stall(...directions: readonly Direction[]): void {
    for (const direction of directions) {
      this.#stalled.add(direction);
      for (const connection of this.#connections) {
        const [from, to] = ends(connection, direction);
        from.unpipe(to);
      }
    }
  }

  /** Ends a cut or a stall. What was sent during a stall arrives now. */
  async heal(): Promise<void> {
    const stalled = [...this.#stalled];
    this.#stalled.clear();
    for (const direction of stalled)
      for (const connection of this.#connections) {
        const [from, to] = ends(connection, direction);
        from.pipe(to);
      }
    if (!this.#server.listening) await this.#listen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the link does not listen');
    this.#port = address.port;
  }

  #forward(node: Socket): void {
    const engine = connect(this.#target, '127.0.0.1');
    const connection = { node, engine };
    this.#connections.add(connection);
    node.on('close', () => this.#connections.delete(connection));
    for (const direction of ['outwards', 'inwards'] as const) {
      const [from, to] = ends(connection, direction);
      if (!this.#stalled.has(direction)) from.pipe(to);
    }
    shareEnds(node, engine);
  }
}

function ends({ node, engine }: Connection, direction: Direction): [from: Socket, to: Socket] {
  return direction === 'outwards' ? [node, engine] : [engine, node];
}
