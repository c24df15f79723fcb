import { MEGABYTE } from '../../core/size-limits.ts';

/** Answers that are kept for one node. It asks again at most for those it still waits for. */
const MOST_ANSWERS = 10_000;
const MOST_BYTES = 16 * MEGABYTE;

/** What became of a question. */
type Kept = 'answering' | 'given up' | { readonly text: string; readonly bytes: number };

/** What this node has answered to another one, until that one says that it waits for the answer no more. */
export class KeptAnswers {
  /** By the ids of the questions, in the order in which they came. */
  readonly #answers = new Map<number, Kept>();
  #low = 0;
  #bytes = 0;

  /** Nobody waits for the answers to earlier questions. */
  forgetBefore(low: number): void {
    if (low <= this.#low) return;
    this.#low = low;
    for (const id of this.#answers.keys()) if (id < low) this.#forget(id);
  }

  /** The answer, if it may be said again. Undefined for a question that is new. */
  find(id: number): Kept | undefined {
    return id < this.#low ? 'given up' : this.#answers.get(id);
  }

  begin(id: number): void {
    this.#answers.set(id, 'answering');
  }

  keep(id: number, text: string): void {
    if (id < this.#low) return;
    const bytes = Buffer.byteLength(text);
    this.#answers.set(id, { text, bytes });
    this.#bytes += bytes;
    if (this.#answers.size > MOST_ANSWERS) this.#forgetOldest();
    if (this.#bytes > MOST_BYTES) this.#giveUpBefore(id);
  }

  #forget(id: number): void {
    const kept = this.#answers.get(id);
    this.#answers.delete(id);
    if (typeof kept === 'object') this.#bytes -= kept.bytes;
  }

  #forgetOldest(): void {
    for (const [id, kept] of this.#answers) {
      if (kept === 'answering') continue;
      this.#forget(id);
      return;
    }
  }

  /**
   * Others than the last answer, the oldest first, until there is room. They have most likely arrived. The questions stay
   * known, so that none of them is done again.
   */
  #giveUpBefore(last: number): void {
    for (const [id, kept] of this.#answers) {
      if (this.#bytes <= MOST_BYTES) return;
      if (typeof kept !== 'object' || id === last) continue;
      this.#answers.set(id, 'given up');
      this.#bytes -= kept.bytes;
    }
  }
}
