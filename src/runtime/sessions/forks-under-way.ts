import type { SessionId } from '../../core/ids.ts';

/** The forks that are being made. The session that a fork copies may be erased only when the fork is complete. */
export class ForksUnderWay {
  readonly #bySource = new Map<SessionId, Set<Promise<unknown>>>();

  async run<T>(source: SessionId, make: () => Promise<T>): Promise<T> {
    const forks = this.#bySource.get(source) ?? new Set();
    this.#bySource.set(source, forks);
    const fork = make();
    forks.add(fork);
    try {
      return await fork;
    } finally {
      forks.delete(fork);
      if (forks.size === 0) this.#bySource.delete(source);
    }
  }

  /** Resolves when the forks of the session that have begun have ended. */
  async over(source: SessionId): Promise<void> {
    await Promise.allSettled(this.#bySource.get(source) ?? []);
  }
}
