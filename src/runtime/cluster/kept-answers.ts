import { MEGABYTE } from '../../core/size-limits.ts';

/** Answers that are kept for one node. */
const MOST_ANSWERS = 10_000;
const MOST_BYTES = 16 * MEGABYTE;

/** What became of a question. */
type Kept = 'answering' | 'given up' | { readonly text: string; readonly bytes: number };

/** What this node has answered to another one, until that one says that it waits for the answer no more. */
export class KeptAnswers {
  /** By the ids of the questions. All are known until nobody waits for them, so that none of them is done again. */
  readonly #answers = new Map<number, Kept>();
  /** The ids of those whose texts are there, in the order in which they were answered. */
  readonly #withText = new Set<number>();
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
    this.#withText.add(id);
    this.#bytes += bytes;
    this.#makeRoom(id);
  }

  #forget(id: number): void {
    this.#dropText(id);
    this.#answers.delete(id);
  }

  /** Gives up others than the last answer, the oldest first. They have most likely arrived. */
  #makeRoom(last: number): void {
    for (const id of this.#withText) {
      const hasRoom = this.#withText.size <= MOST_ANSWERS && this.#bytes <= MOST_BYTES;
      if (hasRoom || id === last) return;
      this.#dropText(id);
      this.#answers.set(id, 'given up');
    }
  }

  #dropText(id: number): void {
    const kept = this.#answers.get(id);
    if (typeof kept !== 'object') return;
    this.#withText.delete(id);
    this.#bytes -= kept.bytes;
  }
}
