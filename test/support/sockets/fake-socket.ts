import type { ClientSocket } from '../../../src/ports/client-socket.ts';
import { FakeBroadcast } from './fake-broadcast.ts';

/** A client socket in memory. As long as `reads` is false it keeps what it is sent. */
export class FakeSocket implements ClientSocket {
  reads = true;
  readonly taken: string[] = [];
  readonly kept: string[] = [];
  readonly endings: { code: number; reason: string }[] = [];
  /** What follows at once when the service closes it. */
  onEnd: () => void = () => undefined;
  readonly #ending = Promise.withResolvers<void>();
  readonly #broadcast: FakeBroadcast;

  constructor(broadcast = new FakeBroadcast()) {
    this.#broadcast = broadcast;
  }

  get ended(): { code: number; reason: string } | undefined {
    return this.endings[0];
  }

  /** Resolves when the service has closed the socket. */
  get whenEnded(): Promise<void> {
    return this.#ending.promise;
  }

  send(text: string): boolean {
    (this.reads ? this.taken : this.kept).push(text);
    return this.reads;
  }

  subscribe(topic: string): void {
    this.#broadcast.subscribe(topic, this);
  }

  unsubscribe(topic: string): void {
    this.#broadcast.unsubscribe(topic, this);
  }

  bufferedBytes(): number {
    return this.kept.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
  }

  end(code: number, reason: string): void {
    this.endings.push({ code, reason });
    this.onEnd();
    this.#ending.resolve();
  }

  /** The client reads on, and has read all that was kept. */
  catchUp(): void {
    this.reads = true;
    this.taken.push(...this.kept.splice(0));
  }

  get frames(): unknown[] {
    return this.taken.map((text) => JSON.parse(text));
  }
}
