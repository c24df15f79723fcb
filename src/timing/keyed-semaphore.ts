import { Semaphore, type SemaphoreOptions } from './semaphore.ts';

/** A semaphore for each key for which something runs. */
export class KeyedSemaphore {
  readonly #options: SemaphoreOptions;
  readonly #used = new Map<string, Semaphore>();

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const semaphore = this.#used.get(key) ?? new Semaphore(this.#options);
    this.#used.set(key, semaphore);
    try {
      return await semaphore.run(work);
    } finally {
      if (semaphore.isIdle) this.#used.delete(key);
    }
  }
}
