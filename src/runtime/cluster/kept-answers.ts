import { MEGABYTE } from '../../core/size-limits.ts';

/** Maximum of answers that are kept for one node. */
const MAX_ANSWERS = 10_000;
const MAX_BYTES = 16 * MEGABYTE;

/** What became of a question. */
type Kept = 'answering' | 'given up' | { readonly text: string; readonly bytes: number };

/** The answers of this node to another node, each until that node no longer waits for it. */
export class KeptAnswers {
  /** By the ids of the questions. A question stays here as long as it may be repeated, so that it is executed once. */
  readonly #answers = new Map<number, Kept>();
  /** The ids of the answers whose texts are kept, in the order of answering. */
  readonly #withText = new Set<number>();
  #low = 0;
  #bytes = 0;

  /** The other node no longer waits for the answers to questions before this id. */
  forgetBefore(low: number): void {
    if (low <= this.#low) return;
    this.#low = low;
    for (const id of this.#answers.keys()) if (id < low) this.#forget(id);
  }

  /** What became of the question. Undefined for a new question. */
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

  /** Drops the oldest texts, but never the last one. The older answers have most likely arrived. */
  #makeRoom(last: number): void {
    for (const id of this.#withText) {
      const hasRoom = this.#withText.size <= MAX_ANSWERS && this.#bytes <= MAX_BYTES;
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
