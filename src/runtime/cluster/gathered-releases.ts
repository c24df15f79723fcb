import type { StreamId } from '../../core/log/streams.ts';
import type { Membership } from '../../ports/membership.ts';

/** Most sessions of one statement. */
const MOST_AT_ONCE = 1_000;

interface Batch {
  readonly streams: StreamId[];
  readonly released: Promise<void>;
}

/**
 * Gives up the sessions of a node that stops. It may have ten thousand of them and has few connections, so those that come
 * while a statement is under way share the next one.
 */
export class GatheredReleases {
  readonly #membership: Pick<Membership, 'release'>;
  /** The last one that was begun. */
  #batch: Batch = { streams: [], released: Promise.resolve() };
  /** Whether it takes more. */
  #isOpen = false;

  constructor(membership: Pick<Membership, 'release'>) {
    this.#membership = membership;
  }

  /** Resolves when nobody owns the session. Rejects as `Membership.release` does. */
  release(stream: StreamId): Promise<void> {
    if (!this.#isOpen || this.#batch.streams.length >= MOST_AT_ONCE) this.#begin();
    this.#batch.streams.push(stream);
    return this.#batch.released;
  }

  #begin(): void {
    const streams: StreamId[] = [];
    this.#isOpen = true;
    this.#batch = { streams, released: this.#releaseAfter(this.#batch.released, streams) };
  }

  async #releaseAfter(before: Promise<void>, streams: readonly StreamId[]): Promise<void> {
    // Those who wait for it hear of its failure.
    await Promise.allSettled([before]);
    if (this.#batch.streams === streams) this.#isOpen = false;
    await this.#membership.release(streams);
  }
}
