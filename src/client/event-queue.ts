interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

type End = { readonly error?: unknown };

/** A bounded queue between a producer and an async iterator. */
export class EventQueue<T> {
  readonly #limit: number;
  readonly #items: T[] = [];
  readonly #waiters: Waiter<T>[] = [];
  #end: End | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns false when the queue is full. The item is then dropped. */
  push(item: T): boolean {
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve({ done: false, value: item });
    else if (this.#items.length >= this.#limit) return false;
    else this.#items.push(item);
    return true;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#items.shift();
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#end) this.#settle(this.#end);
    });
  }

  /** Nobody waits for the next item any longer. Each open `next` ends. */
  release(): void {
    this.#settle({});
  }

  /** Drops the queued items and ends the iteration. */
  close(): void {
    this.#items.length = 0;
    this.#finish({});
  }

  /** Lets the queued items be read, then rejects every `next` with the error. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  #finish(end: End): void {
    this.#end = end;
    this.#settle(end);
  }

  #settle(end: End): void {
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if ('error' in end) reject(end.error);
      else resolve({ done: true, value: undefined });
    }
  }
}
