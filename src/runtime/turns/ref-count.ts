/** Counts what uses something, so that it can be given up when nothing uses it any more. */
export class RefCount {
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  acquire(): void {
    this.#count += 1;
  }

  release(): void {
    this.#count -= 1;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get isUsed(): boolean {
    return this.#count > 0;
  }

  /** Resolves when nothing uses it. */
  async unused(): Promise<void> {
    if (this.isUsed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
