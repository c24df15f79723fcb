/** The longest wait for the other end of a request. It does not run while this end owes an answer. */
export class RequestTimeout {
  readonly #timeoutMs: number;
  readonly #onTimeout: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** How many answers this end owes. */
  #owed = 0;
  #isOver = false;

  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
    this.restart();
  }

  /** The other end has shown that it works on the request. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.#owed === 0 && !this.#isOver) this.#timer = setTimeout(this.#onTimeout, this.#timeoutMs);
  }

  /** Must be called once for each answer that is owed. @returns what to call when the answer is given. */
  suspend(): () => void {
    this.#owed += 1;
    clearTimeout(this.#timer);
    return () => {
      this.#owed -= 1;
      this.restart();
    };
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
