import type { ErrorBody } from '../core/errors.ts';
import type { ResumableFrame } from '../wire/frames.ts';
import { givenUpError } from './given-up.ts';
import type { Accepted } from './outgoing.ts';
import { type RefusalCause, RefusedError } from './session-errors.ts';

interface PendingReply {
  readonly turnId: string;
  readonly resolve: (content: string) => void;
  readonly reject: (error: unknown) => void;
}

type TurnEnd =
  | { readonly content: string }
  | { readonly error: ErrorBody; readonly cause: RefusalCause | undefined };

/** The callers of `ask` whose messages were accepted and whose turns have not ended. */
export class PendingReplies {
  #pending: PendingReply[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /**
   * Settles at once when the turn has already ended, else when `note` sees its end.
   * @returns what to call when nobody waits any longer.
   */
  wait(
    { turnId, end }: Accepted,
    resolve: PendingReply['resolve'],
    reject: PendingReply['reject'],
  ): () => void {
    const reply = { turnId, resolve, reject };
    if (end?.content !== undefined) resolve(end.content);
    else if (end?.error) reject(new RefusedError(end.error));
    else this.#pending.push(reply);
    return () => {
      this.#pending = this.#pending.filter((pending) => pending !== reply);
    };
  }

  note(frame: ResumableFrame): void {
    if (this.isEmpty) return;
    const error = givenUpError(frame);
    if (error) this.failAll(new RefusedError(error));
    if (frame.seq === undefined) return;
    if (frame.event === 'response') this.#settle(frame.turnId, { content: frame.data.content });
    else if (frame.event === 'error') this.#settle(frame.turnId, { error: frame.data, cause: frame.cause });
  }

  failAll(error: unknown): void {
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }

  #settle(turnId: string | undefined, end: TurnEnd): void {
    const ended = this.#pending.filter((pending) => pending.turnId === turnId);
    this.#pending = this.#pending.filter((pending) => pending.turnId !== turnId);
    for (const { resolve, reject } of ended) {
      if ('content' in end) resolve(end.content);
      else reject(new RefusedError(end.error, end.cause));
    }
  }
}
