/** Calls back once when nothing was heard for a while. One timer for the whole call: `heard` is the hot path. */
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
