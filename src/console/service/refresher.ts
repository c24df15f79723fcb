import { isPassing, retryDelayMs } from './hub/trouble.ts';

/** Changes within this time cause one request. */
const PAUSE_MS = 200;
/** The least time between two requests, because the service limits their rate. */
const INTERVAL_MS = 3_000;

/** Rejects if there is no answer. @param signal aborts when the answer is no longer wanted. */
export type Ask = (signal: AbortSignal) => Promise<void>;

/** Asks again when something has changed, not too often, and after a failure that may pass. */
export class Refresher {
  readonly #ask: Ask;
  readonly #requests: () => number;
  #asking: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastAsked = 0;
  #failures = 0;
  /** Something has changed since the question that is still open. */
  #isStale = false;

  /** @param requests how many requests `ask` makes. */
  constructor(ask: Ask, requests: () => number) {
    this.#ask = ask;
    this.#requests = requests;
  }

  /** Asks soon. */
  want(): void {
    if (this.#asking) {
      this.#isStale = true;
      return;
    }
    const next = this.#lastAsked + INTERVAL_MS * this.#requests();
    this.#timer ??= setTimeout(this.now, Math.max(PAUSE_MS, next - Date.now()));
  }

  /** Asks at once, and no longer waits for an earlier answer. */
  readonly now = (): void => {
    this.close();
    const asking = new AbortController();
    this.#asking = asking;
    this.#lastAsked = Date.now();
    this.#ask(asking.signal).then(
      () => this.#end(asking, null),
      (error: unknown) => this.#end(asking, error),
    );
  };

  /** Asks nothing more, unless it is wanted again. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#asking?.abort();
    this.#asking = null;
    this.#isStale = false;
  }

  #end(asking: AbortController, error: unknown): void {
    if (this.#asking !== asking) return;
    this.#asking = null;
    if (isPassing(error)) {
      this.#timer = setTimeout(this.now, retryDelayMs(error, this.#failures));
      this.#failures += 1;
      return;
    }
    this.#failures = 0;
    if (!this.#isStale) return;
    this.#isStale = false;
    this.want();
  }
}
