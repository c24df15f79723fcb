import { type Clock, systemClock } from './clock.ts';

export interface SemaphoreOptions {
  /** How much may run at the same time. */
  readonly atOnce: number;
  /** Nobody waits longer, so that work that never ends holds nobody up for ever. */
  readonly patienceMs: number;
  /** A simulated one, in tests. */
  readonly clock?: Clock;
}

/** Lets some work run at the same time, and the rest after it in the order in which it came. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  #running = 0;
  /** Begins what waits, the longest first. */
  readonly #waiting = new Set<() => void>();

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Resolves when it is one's turn. @returns lets the next one in. */
  async acquire(): Promise<() => void> {
    if (this.#running >= this.#options.atOnce) await this.#turn();
    else this.#running += 1;
    return () => {
      this.#running -= 1;
      if (this.#running >= this.#options.atOnce) return;
      const [next] = this.#waiting;
      next?.();
    };
  }

  /** Whether nothing runs. Then nothing waits, either. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  #turn(): Promise<void> {
    const { patienceMs, clock = systemClock } = this.#options;
    return new Promise((resolve) => {
      const enter = (): void => {
        clock.clearTimeout(timer);
        this.#waiting.delete(enter);
        this.#running += 1;
        resolve();
      };
      const timer = clock.setTimeout(enter, patienceMs);
      this.#waiting.add(enter);
    });
  }
}
