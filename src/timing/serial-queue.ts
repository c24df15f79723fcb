/** Runs work one after the other, in the order in which it was given. A failure is told to who gave the work, and holds up nobody. */
export class SerialQueue {
  #latest: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#latest.then(work);
    this.#latest = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all work is over that was given until now. Never rejects. */
  async settled(): Promise<void> {
    await this.#latest;
  }
}
