/**
 * Begins work in the order in which it comes, and only some in each turn of the event loop: what comes together waits for the
 * next turns. Between the turns, everything else goes on.
 */
export class LoopPace {
  readonly #maxInTurn: number;
  readonly #waiting: (() => void)[] = [];
  /** How many have begun since the last turn in which there were many. */
  #begun = 0;

  constructor(maxInTurn: number) {
    this.#maxInTurn = maxInTurn;
  }

  /** Calls `work` now, or in one of the next turns. It must not throw. */
  begin(work: () => void): void {
    if (this.#begun === this.#maxInTurn) {
      this.#waiting.push(work);
      return;
    }
    this.#begun += 1;
    // Counting in each turn would cost each turn an immediate. If little comes, one work in many waits for the end of a turn.
    if (this.#begun === this.#maxInTurn) setImmediate(() => this.#nextTurn());
    work();
  }

  #nextTurn(): void {
    this.#begun = 0;
    for (const work of this.#waiting.splice(0, this.#maxInTurn)) this.begin(work);
  }
}
