import { REQUEST_STREAMS, type StreamId } from '../../core/log/streams.ts';
import { IDEMPOTENCY_TTL_MS } from '../../core/request/idempotency.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';

const PAGE_STREAMS = 500;

export interface ExpiredRequestsDeps {
  readonly store: EventStore;
  readonly log: Logger;
  /** The requests that run in this process. They may have written their stream again since the index was read. */
  readonly running: ReadonlyMap<StreamId, unknown>;
}

/**
 * Erases the streams of requests whose keys have expired. Every node may do so: erasing a stream twice is harmless. But the
 * log cannot erase on condition that no other node has begun the request anew since the index was read.
 */
export class ExpiredRequests {
  readonly #deps: ExpiredRequestsDeps;
  #page: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(deps: ExpiredRequestsDeps) {
    this.#deps = deps;
  }

  /** Resolves when nothing is being erased. Never rejects. */
  async settled(): Promise<void> {
    await this.#page;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Goes page by page, so that nobody waits long. Never rejects. */
  async sweep(now: number): Promise<void> {
    try {
      let after: string | undefined = REQUEST_STREAMS;
      while (after !== undefined && !this.#isStopped) {
        const page = this.#sweepPage(after, now - IDEMPOTENCY_TTL_MS);
        this.#page = page.catch(() => undefined);
        after = await page;
      }
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'expired idempotency keys could not be erased');
    }
  }

  /** @returns the id after which the next page begins. */
  async #sweepPage(after: string, before: number): Promise<string | undefined> {
    const { store, running } = this.#deps;
    const inUse = new Set(running.keys());
    const streams = await store.sessions({ after, limit: PAGE_STREAMS });
    const requests = streams.filter(({ sessionId }) => sessionId.startsWith(REQUEST_STREAMS));
    // Not by its first event: on a shared log, a request with an expired key begins anew in the same stream.
    const expired = requests.filter(
      ({ sessionId, updatedAt }) => updatedAt <= before && !inUse.has(sessionId),
    );
    if (expired.length > 0) await store.erase(...expired.map(({ sessionId }) => sessionId));
    return requests.length < PAGE_STREAMS ? undefined : requests.at(-1)?.sessionId;
  }
}
