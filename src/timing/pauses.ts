import type { Clock } from './clock.ts';

/** Waits of a fixed time, all of which a stop ends early. */
export class Pauses {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after this time, or at once when the pauses are stopped. */
  async pause(ms: number): Promise<void> {
    if (this.#isStopped) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.setTimeout(resolve, ms);
    this.#waiting.add(resolve);
    await promise;
    this.#waiting.delete(resolve);
    this.#clock.clearTimeout(timer);
  }

  stop(): void {
    this.#isStopped = true;
    for (const resolve of this.#waiting) resolve();
  }
}
