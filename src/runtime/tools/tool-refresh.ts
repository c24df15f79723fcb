import { type Clock, systemClock } from '../../timing/clock.ts';
import { Pauses } from '../../timing/pauses.ts';

/** Some servers say that their tools have changed each time that they are listed. */
const PAUSE_MS = 1_000;

export interface ToolRefreshOptions {
  /** Lists the tools, and says whether that succeeded. Never rejects. */
  readonly refresh: () => Promise<boolean>;
  /** Delay before a list that failed is repeated, in milliseconds, given the failures in a row. */
  readonly retryDelayMs: (failures: number) => number;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Lists the tools of a connection again when they have changed: once at a time, and with a pause before the next time. A
 * list that fails is repeated until one succeeds or the connection ends.
 */
export class ToolRefresh {
  readonly #refresh: () => Promise<boolean>;
  readonly #retryDelayMs: (failures: number) => number;
  readonly #clock: Clock;
  readonly #pauses: Pauses;
  readonly #signal: AbortSignal;
  #isDue = false;
  #isRunning = false;
  /** Lists in a row that failed. */
  #failures = 0;
  #retry: unknown;

  constructor({ refresh, retryDelayMs, signal, clock = systemClock }: ToolRefreshOptions) {
    this.#refresh = refresh;
    this.#retryDelayMs = retryDelayMs;
    this.#signal = signal;
    this.#clock = clock;
    this.#pauses = new Pauses(clock);
    signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** The tools have changed. Several changes until the next time are one. */
  request(): void {
    this.#isDue = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDue && !this.#signal.aborted) {
      this.#isDue = false;
      this.#clock.clearTimeout(this.#retry);
      if (await this.#refresh()) this.#failures = 0;
      else this.#retryLater();
      await this.#pauses.pause(PAUSE_MS);
    }
    this.#isRunning = false;
  }

  /** A change before then does not wait for the repetition. */
  #retryLater(): void {
    if (this.#signal.aborted) return;
    this.#failures += 1;
    this.#retry = this.#clock.setTimeout(() => this.request(), this.#retryDelayMs(this.#failures));
  }

  #stop(): void {
    this.#pauses.stop();
    this.#clock.clearTimeout(this.#retry);
  }
}
