interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

type End = { readonly error?: unknown };

/** What has come and was not read yet, up to a bound. */
export class EventQueue<T> {
  readonly #limit: number;
  readonly #items: T[] = [];
  readonly #waiters: Waiter<T>[] = [];
  #end: End | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when the queue is full: then the item is not kept. */
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

  /** What waits is forgotten. */
  close(): void {
    this.#items.length = 0;
    this.#finish({});
  }

  /** What waits is still read, then the error is thrown. */
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
