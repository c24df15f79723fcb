import type { Pool, PoolClient } from 'pg';

/**
 * The connections of pools that nobody uses. A firewall that has lost its state, or an address that leads nowhere any more,
 * drops what all of them send: whoever was given one after the other would wait for each.
 */
export class IdleConnections {
  readonly #pools: readonly Pool[];
  /** By `performance.now()`. */
  readonly #connectedAt = new WeakMap<PoolClient, number>();

  constructor(pools: readonly Pool[]) {
    this.#pools = pools;
    for (const pool of pools)
      pool.on('connect', (client) => this.#connectedAt.set(client, performance.now()));
  }

  /** Gives up those that were made before this time. New ones are made for whoever asks next. */
  drop(madeBefore: number): void {
    // Connections that somebody waits for are as good as in use.
    for (const pool of this.#pools)
      for (let left = pool.idleCount - pool.waitingCount; left > 0; left -= 1)
        pool.connect().then(
          (client) => this.#putBack(client, madeBefore),
          // The pool is closed, or full again.
          () => undefined,
        );
  }

  #putBack(client: PoolClient, madeBefore: number): void {
    const isOld = (this.#connectedAt.get(client) ?? 0) < madeBefore;
    client.release(isOld);
    // The server would not answer a goodbye, and whoever waits for the place in the pool would wait for that.
    if (isOld) client.connection.stream.destroy();
  }
}
