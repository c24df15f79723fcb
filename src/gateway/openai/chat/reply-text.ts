import { ServiceError } from '../../../core/errors.ts';
import type { ReplyChunk } from '../../../core/session/session-signal.ts';
import { separatorAfter } from '../../../core/turn/reply-text.ts';

/**
 * The text of a turn for a client that cannot take anything back. If the service, or the node that has the session, ended in
 * the middle of a step, the step is run again: what it says then goes on where the client is, if it begins in the same way.
 */
export class ReplyText {
  readonly #before: string;
  /** What the client has. */
  #told: string;
  /** How long the text of the turn is so far; shorter than what was told, after a step has begun again. */
  #length: number;
  /** Where the text of the running step begins. */
  #begin = 0;
  #step = 1;
  #isAnother = false;

  /** @param before what earlier answers said. The separator behind it is not told. */
  constructor(before = '') {
    this.#before = before;
    this.#told = before + separatorAfter(before);
    this.#length = before.length;
  }

  /** @returns what the client does not have yet. */
  add({ step, offset, content }: Pick<ReplyChunk, 'step' | 'offset' | 'content'>): string {
    if (step !== this.#step) {
      this.#begin = this.#length;
      this.#step = step;
    }
    const start = this.#begin + offset;
    this.#length = start + content.length;
    const known = this.#told.length - start;
    // What is between was said before anybody listened. It comes with the whole reply.
    if (known < 0) return '';
    const again = content.slice(0, known);
    if (this.#told.slice(start, start + again.length) !== again) this.#isAnother = true;
    if (this.#isAnother) return '';
    const rest = content.slice(known);
    this.#told += rest;
    return rest;
  }

  /**
   * @param content the whole reply.
   * @returns what the client does not have yet. Throws if it was told something else.
   */
  end(content: string): string {
    if (content === this.#before) return '';
    if (this.#isAnother || !content.startsWith(this.#told)) throw toldOtherwise();
    return content.slice(this.#told.length);
  }
}

function toldOtherwise(): ServiceError {
  return new ServiceError('AGENT_ERROR', 'The reply was interrupted.', {
    reason: 'the service was interrupted in the middle of the reply, and the model has begun another one',
    suggestion: 'The session has the whole reply.',
  });
}
