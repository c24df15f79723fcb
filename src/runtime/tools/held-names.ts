/** The names of tool servers that this process is recording in the log. Nothing else changes these servers meanwhile. */
export class HeldNames {
  readonly #counts = new Map<string, number>();
  readonly #onReleased: () => void;
  #mustTell = false;

  /** @param onReleased is called when all names are free again, if somebody wanted to know. */
  constructor(onReleased: () => void) {
    this.#onReleased = onReleased;
  }

  /** Whoever hears that the name is held wants to know when it is free. */
  isHeld(name: string): boolean {
    const isHeld = this.#counts.has(name);
    if (isHeld) this.tellWhenFree();
    return isHeld;
  }

  tellWhenFree(): void {
    this.#mustTell = true;
  }

  /** Holds the name from the call until the work is settled. */
  async during<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#release(name);
    }
  }

  #release(name: string): void {
    const count = this.#counts.get(name) ?? 0;
    if (count > 1) this.#counts.set(name, count - 1);
    else this.#counts.delete(name);
    if (!this.#mustTell || this.#counts.size > 0) return;
    this.#mustTell = false;
    this.#onReleased();
  }
}
