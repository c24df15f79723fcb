/** Runs tasks one after the other, in the order in which they arrive. */
export class Mailbox {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Settles as the task does. The task starts when all earlier tasks have settled. */
  put<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const result = this.#last.then(work);
    this.#last = result.then(this.#onDone, this.#onDone);
    return result;
  }

  get isEmpty(): boolean {
    return this.#pending === 0;
  }

  /** Resolves when every task that is in the mailbox now has settled. */
  get handled(): Promise<unknown> {
    return this.#last;
  }

  /** Resolves when the mailbox is empty. */
  async emptied(): Promise<void> {
    for (let seen: unknown; seen !== this.#last; await seen) seen = this.#last;
  }

  readonly #onDone = (): void => {
    this.#pending -= 1;
  };
}
