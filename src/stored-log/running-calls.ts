/** Calls that must be done before a store of the log is closed. */
export class RunningCalls {
  readonly #running = new Set<Promise<unknown>>();

  async track<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when those that run now have settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}
