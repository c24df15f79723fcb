import type { SessionId } from '../../../core/ids.ts';

/** Sessions of one generation, a few hundred bytes each. */
const generationSize = 2_048;

/**
 * Caches the rows of the index that were written last, because appends to one session tend to follow each other. Two
 * generations replace an eviction per entry, which would cost more time than the cache saves.
 */
export class SessionCache<S extends { readonly sessionId: SessionId }> {
  #young = new Map<SessionId, S>();
  #old: ReadonlyMap<SessionId, S> = new Map();

  find(sessionId: SessionId): S | undefined {
    return this.#young.get(sessionId) ?? this.#old.get(sessionId);
  }

  put(session: S): void {
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(session.sessionId, session);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
