import type { StreamId } from '../../core/log/streams.ts';
import type { Membership } from '../../ports/membership.ts';

/** Most sessions of one statement. */
const MAX_AT_ONCE = 1_000;

interface Batch {
  readonly streams: StreamId[];
  readonly released: Promise<void>;
}

/**
 * Gives up the sessions of a node that stops. The node may have ten thousand sessions and has few database connections,
 * so all sessions that come while one statement runs share the next statement.
 */
export class GatheredReleases {
  readonly #membership: Pick<Membership, 'release'>;
  /** The batch that was begun last. */
  #batch: Batch = { streams: [], released: Promise.resolve() };
  /** Whether that batch takes more sessions. */
  #isOpen = false;

  constructor(membership: Pick<Membership, 'release'>) {
    this.#membership = membership;
  }

  /** Resolves when nobody owns the session. Rejects as `Membership.release` does. */
  release(stream: StreamId): Promise<void> {
    if (!this.#isOpen || this.#batch.streams.length >= MAX_AT_ONCE) this.#begin();
    this.#batch.streams.push(stream);
    return this.#batch.released;
  }

  #begin(): void {
    const streams: StreamId[] = [];
    this.#isOpen = true;
    this.#batch = { streams, released: this.#releaseAfter(this.#batch.released, streams) };
  }

  async #releaseAfter(before: Promise<void>, streams: readonly StreamId[]): Promise<void> {
    // If the batch before has failed, those who wait for it are told.
    await Promise.allSettled([before]);
    if (this.#batch.streams === streams) this.#isOpen = false;
    await this.#membership.release(streams);
  }
}
