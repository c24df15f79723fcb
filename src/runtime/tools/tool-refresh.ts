import { type Clock, systemClock } from '../../timing/clock.ts';
import { Pauses } from '../../timing/pauses.ts';

/** Some servers say that their tools have changed each time that they are listed. */
const PAUSE_MS = 1_000;

export interface ToolRefreshOptions {
  /** Lists the tools. Never rejects. */
  readonly refresh: () => Promise<void>;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** Lists the tools of a connection again when they have changed: once at a time, and with a pause before the next time. */
export class ToolRefresh {
  readonly #refresh: () => Promise<void>;
  readonly #pauses: Pauses;
  readonly #signal: AbortSignal;
  #isDue = false;
  #isRunning = false;

  constructor({ refresh, signal, clock = systemClock }: ToolRefreshOptions) {
    this.#refresh = refresh;
    this.#signal = signal;
    this.#pauses = new Pauses(clock);
    signal.addEventListener('abort', () => this.#pauses.stop(), { once: true });
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
      await this.#refresh();
      await this.#pauses.pause(PAUSE_MS);
    }
    this.#isRunning = false;
  }
}
