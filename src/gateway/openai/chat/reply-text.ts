import { ServiceError } from '../../../core/errors.ts';
import type { ReplyChunk } from '../../../core/session/session-signal.ts';

/**
 * The text of a turn for a client that cannot take anything back. If the service, or the node that has the session, ended in
 * the middle of a step, the step is run again: what it says then goes on where the client is, if it begins in the same way.
 */
export class ReplyText {
  /** What the client has. */
  #told = '';
  /** The texts of the steps before this one, and what this one has said so far. */
  #said = '';
  /** Where the text of the running step begins. */
  #begin = 0;
  #step = 1;

  /** @returns what the client does not have yet. Throws if it was told something else. */
  add({ step, offset, content }: Pick<ReplyChunk, 'step' | 'offset' | 'content'>): string {
    if (step !== this.#step) {
      this.#begin = this.#said.length;
      this.#step = step;
    }
    this.#said = this.#said.slice(0, this.#begin + offset) + content;
    return this.#rest();
  }

  /** @param content the whole reply. */
  end(content: string): string {
    this.#said = content;
    return this.#rest();
  }

  #rest(): string {
    if (this.#said.length <= this.#told.length) return '';
    if (!this.#said.startsWith(this.#told)) throw toldOtherwise();
    const rest = this.#said.slice(this.#told.length);
    this.#told = this.#said;
    return rest;
  }
}

function toldOtherwise(): ServiceError {
  return new ServiceError('AGENT_ERROR', 'The reply was interrupted.', {
    reason: 'the service was interrupted in the middle of the reply, and the model has begun another one',
    suggestion: 'The session has the whole reply.',
  });
}
