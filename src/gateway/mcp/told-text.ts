import type { ReplyChunk } from '../../core/session/session-signal.ts';

/**
 * How much of a reply a client was told. A step that begins again, because another node or the next process goes on with its
 * turn, is told from where the client is.
 */
export class ToldText {
  #told: number;
  /** Where the text of the running step begins. */
  #begin = 0;
  /** How long the text is so far. */
  #length = 0;
  #step: number | null = null;

  /** @param told characters that the client has already. */
  constructor(told = 0) {
    this.#told = told;
  }

  /** In characters. */
  get told(): number {
    return this.#told;
  }

  /** @returns what the client does not have yet. */
  add({ step, offset, content }: Pick<ReplyChunk, 'step' | 'offset' | 'content'>): string {
    // Who begins to listen in the middle of a step counts from there.
    if (this.#step === null) this.#begin = -offset;
    else if (step !== this.#step) this.#begin = this.#length;
    this.#step = step;
    this.#length = this.#begin + offset + content.length;
    const missing = this.#length - this.#told;
    if (missing <= 0) return '';
    this.#told = this.#length;
    return content.slice(-missing);
  }
}
