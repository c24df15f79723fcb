import { type Clock, systemClock } from './clock.ts';

export interface TurnstileOptions {
  /** How many may be inside at the same time. */
  readonly atOnce: number;
  /** Nobody waits longer, so that one who stays holds nobody up for ever. */
  readonly patienceMs: number;
  /** A simulated one, in tests. */
  readonly clock?: Clock;
}

/** Lets a few work at the same time, and the others after them in the order in which they came. */
export class Turnstile {
  readonly #options: TurnstileOptions;
  #inside = 0;
  /** Lets those in who wait, the longest first. */
  readonly #waiting = new Set<() => void>();

  constructor(options: TurnstileOptions) {
    this.#options = options;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when it is one's turn. @returns leaves. */
  async enter(): Promise<() => void> {
    if (this.#inside >= this.#options.atOnce) await this.#turn();
    else this.#inside += 1;
    return () => {
      this.#inside -= 1;
      if (this.#inside >= this.#options.atOnce) return;
      const [next] = this.#waiting;
      next?.();
    };
  }

  /** Whether nobody is inside. Then nobody waits, either. */
  get isEmpty(): boolean {
    return this.#inside === 0;
  }

  #turn(): Promise<void> {
    const { patienceMs, clock = systemClock } = this.#options;
    return new Promise((resolve) => {
      const enter = (): void => {
        clock.clearTimeout(timer);
        this.#waiting.delete(enter);
        this.#inside += 1;
        resolve();
      };
      const timer = clock.setTimeout(enter, patienceMs);
      this.#waiting.add(enter);
    });
  }
}
