import { MEGABYTE } from '../../core/size-limits.ts';

/** Maximum of answers that are kept for one node. */
const MAX_ANSWERS = 10_000;
const MAX_BYTES = 16 * MEGABYTE;
/**
 * Maximum of ids of dropped answers that are kept for one node, for which one slow question, such as one that waits for a
 * person, holds back all later ones. A question is repeated for seconds only, and no node answers so many meanwhile.
 */
const MAX_GIVEN_UP = 100_000;

/** What became of a question. */
type Kept = 'answering' | 'given up' | { readonly text: string; readonly bytes: number };

/** The answers of this node to another node, each until that node no longer waits for it. */
export class KeptAnswers {
  /** By the ids of the questions. A question stays here as long as it may be repeated, so that it is executed once. */
  readonly #answers = new Map<number, Exclude<Kept, 'given up'>>();
  /** The ids of the answers whose texts are kept, in the order of answering. */
  readonly #withText = new Set<number>();
  /** The ids of the answers whose texts were dropped, in the same order. */
  readonly #givenUp = new Set<number>();
  #low = 0;
  /** Of the ids that are not kept any more. */
  #highestGivenUp = 0;
  #bytes = 0;

  /** How much is kept. */
  get size(): number {
    return this.#answers.size + this.#givenUp.size;
  }

  /** The other node no longer waits for the answers to questions before this id. */
  forgetBefore(low: number): void {
    if (low <= this.#low) return;
    this.#low = low;
    for (const id of this.#answers.keys()) if (id < low) this.#forget(id);
    for (const id of this.#givenUp) if (id < low) this.#givenUp.delete(id);
  }

  /** What became of the question. Undefined for a new question. */
  find(id: number): Kept | undefined {
    if (id < this.#low || this.#givenUp.has(id)) return 'given up';
    return this.#answers.get(id) ?? (id <= this.#highestGivenUp ? 'given up' : undefined);
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

  /** Drops the oldest texts, but never the last one. The older answers have most likely arrived. */
  #makeRoom(last: number): void {
    for (const id of this.#withText) {
      const hasRoom = this.#withText.size <= MAX_ANSWERS && this.#bytes <= MAX_BYTES;
      if (hasRoom || id === last) return;
      this.#forget(id);
      this.#giveUp(id);
    }
  }

  #giveUp(id: number): void {
    this.#givenUp.add(id);
    if (this.#givenUp.size <= MAX_GIVEN_UP) return;
    const [oldest = id] = this.#givenUp;
    this.#givenUp.delete(oldest);
    this.#highestGivenUp = Math.max(this.#highestGivenUp, oldest);
  }

  #forget(id: number): void {
    const kept = this.#answers.get(id);
    this.#answers.delete(id);
    if (typeof kept !== 'object') return;
    this.#withText.delete(id);
    this.#bytes -= kept.bytes;
  }
}
