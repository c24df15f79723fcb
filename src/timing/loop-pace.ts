/**
 * Lets work begin in the order in which it comes, and only some in each turn of the event loop: what comes together waits for the
 * next turns. Between the turns, everything else goes on. Who waits must be bounded: nothing here is refused.
 */
export class LoopPace {
  readonly #maxInTurn: number;
  readonly #waiting: (() => void)[] = [];
  /** How many have begun since the last turn in which there were many. */
  #begun = 0;

  constructor(maxInTurn: number) {
    this.#maxInTurn = maxInTurn;
  }

  /** Resolves in one of the next turns; undefined if the work may begin now. */
  turn(): Promise<void> | undefined {
    if (this.#begun === this.#maxInTurn) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#count(1);
    return undefined;
  }

  /** Counting in each turn would cost each turn an immediate. If little comes, one work in many waits for the end of a turn. */
  #count(begun: number): void {
    this.#begun += begun;
    if (this.#begun === this.#maxInTurn) setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#begun = 0;
    const next = this.#waiting.splice(0, this.#maxInTurn);
    this.#count(next.length);
    for (const begin of next) begin();
  }
}
