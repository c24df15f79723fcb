import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Packets } from './chat-reply.ts';
import type { Scope } from './scope.ts';

interface RunningReply {
  readonly socket: Socket;
  readonly packets: Packets;
  next: number;
}

const TICK_MS = 1;

/**
 * A model service that answers every request with the same prepared bytes. It costs so little that it can run in the
 * process of the load generator.
 */
export class Upstream {
  /** The answer. Packets after the first are sent at `packetsPerSecond`, a rate that all running replies share. */
  packets: Packets = [];
  packetsPerSecond = 1_000;
  /** The answer to requests that do not ask for a stream. Null answers them as the others. */
  wholeAnswer: Buffer | null = null;
  readonly #server: Server;
  readonly #running: RunningReply[] = [];
  #turn = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(scope: Scope): Promise<Upstream> {
    const server = createServer();
    const upstream = new Upstream(server);
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      upstream.#serve(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1', 1_024);
    await once(server, 'listening');
    const timer = upstream.#startPacing();
    scope.defer(() => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return upstream;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the upstream is not listening');
    return `http://127.0.0.1:${address.port}/v1`;
  }

  /** Ends all running replies with their last packet. */
  finishAll(): void {
    for (const { socket, packets } of this.#running.splice(0)) socket.write(packets.at(-1) ?? '');
  }

  #serve(socket: Socket): void {
    let received = '';
    socket.setNoDelay(true).setEncoding('latin1');
    // A client may close its connection at any time.
    socket.on('error', () => socket.destroy());
    socket.on('data', (text: string) => {
      received += text;
      const head = received.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const isWhole = this.wholeAnswer !== null && !received.includes('"stream":true', head);
      received = '';
      if (isWhole) socket.write(this.wholeAnswer ?? '');
      else this.#answer(socket);
    });
  }

  #answer(socket: Socket): void {
    const [first] = this.packets;
    if (!first) throw new Error('the upstream has no packets to send');
    socket.write(first);
    if (this.packets.length > 1) this.#running.push({ socket, packets: this.packets, next: 1 });
  }

  /** Every tick, sends the packets that are due, one to each running reply in turn. */
  #startPacing(): NodeJS.Timeout {
    let last = performance.now();
    let due = 0;
    return setInterval(() => {
      const now = performance.now();
      due = this.#running.length === 0 ? 0 : due + ((now - last) * this.packetsPerSecond) / 1_000;
      last = now;
      for (; due >= 1 && this.#running.length > 0; due -= 1) this.#sendNext();
    }, TICK_MS);
  }

  #sendNext(): void {
    this.#turn = (this.#turn + 1) % this.#running.length;
    const reply = this.#running[this.#turn];
    const packet = reply?.packets[reply.next];
    if (!reply || !packet) throw new Error('a running reply has no packet left');
    reply.socket.write(packet);
    reply.next += 1;
    if (reply.next === reply.packets.length) this.#running.splice(this.#turn, 1);
  }
}
