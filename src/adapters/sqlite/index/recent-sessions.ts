import type { SessionId } from '../../../core/ids.ts';

/** A few hundred bytes each. */
const generationSize = 2_048;

/**
 * The rows of the index that were written last: whoever appends to a session soon does so again. In two
 * generations, because a map that loses its oldest entry at each new one is slower than what it saves.
 */
export class RecentSessions<S extends { readonly sessionId: SessionId }> {
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
