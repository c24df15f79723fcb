/** Does one thing after the other, in the order in which they came. */
export class Mailbox {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Resolves or rejects as the work does, which is not begun before all that came earlier has ended. */
  put<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const result = this.#last.then(work);
    this.#last = result.then(this.#onDone, this.#onDone);
    return result;
  }

  get isEmpty(): boolean {
    return this.#pending === 0;
  }

  /** Resolves when all that is in it now has ended, one way or the other. */
  get handled(): Promise<unknown> {
    return this.#last;
  }

  /** The same, and what was put in meanwhile. */
  async emptied(): Promise<void> {
    for (let seen: unknown; seen !== this.#last; await seen) seen = this.#last;
  }

  readonly #onDone = (): void => {
    this.#pending -= 1;
  };
}
