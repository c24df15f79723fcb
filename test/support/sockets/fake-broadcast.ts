import type { Broadcast } from '../../../src/ports/broadcast.ts';
import type { ClientSocket } from '../../../src/ports/client-socket.ts';

/** The topics of fake sockets. */
export class FakeBroadcast implements Broadcast {
  maxCharacters = Number.POSITIVE_INFINITY;
  /** All that was published, whoever got it. */
  readonly published: string[] = [];
  readonly #topics = new Map<string, Set<ClientSocket>>();

  publish(topic: string, text: string): void {
    this.published.push(text);
    for (const socket of this.#topics.get(topic) ?? []) socket.send(text);
  }

  subscribe(topic: string, socket: ClientSocket): void {
    this.#topics.set(topic, this.subscribers(topic).add(socket));
  }

  unsubscribe(topic: string, socket: ClientSocket): void {
    this.subscribers(topic).delete(socket);
  }

  subscribers(topic: string): Set<ClientSocket> {
    return this.#topics.get(topic) ?? new Set();
  }
}
