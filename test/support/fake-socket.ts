import type { ClientSocket } from '../../src/ports/client-socket.ts';

/** A client socket in memory. As long as `reads` is false it keeps what it is sent. */
export class FakeSocket implements ClientSocket {
  reads = true;
  readonly taken: string[] = [];
  readonly kept: string[] = [];
  ended: { code: number; reason: string } | undefined;
  readonly #ending = Promise.withResolvers<void>();

  /** Resolves when the service has closed the socket. */
  get whenEnded(): Promise<void> {
    return this.#ending.promise;
  }

  send(text: string): boolean {
    (this.reads ? this.taken : this.kept).push(text);
    return this.reads;
  }

  bufferedBytes(): number {
    return this.kept.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
  }

  end(code: number, reason: string): void {
    this.ended = { code, reason };
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
