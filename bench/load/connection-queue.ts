import { setTimeout as pause } from 'node:timers/promises';

/** Clients of others may take and leave connections, too. */
const MAX_MS = 5_000;

/** Clients that wait for a connection that the limit of the service does not allow now. */
export class ConnectionQueue {
  readonly #waiting: (() => void)[] = [];

  /** A client has ended its connection for good: the next one may try. */
  release(): void {
    this.#waiting.shift()?.();
  }

  /** Resolves when a client has left, after a few seconds, or when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const left = Promise.withResolvers<void>();
    this.#waiting.push(left.resolve);
    await Promise.race([left.promise, pause(MAX_MS, undefined, { signal }).catch(() => undefined)]);
  }
}
