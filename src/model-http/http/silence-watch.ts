/** Calls back once after a time without `heard`. Has one timer for the whole call, because `heard` is the hot path. */
export class SilenceWatch {
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
  }

  start(timeoutMs: number): void {
    this.stop();
    this.#timer = setTimeout(this.#onSilence, timeoutMs);
  }

  heard(): void {
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
