import { givenUpError } from '../../client/given-up.ts';
import type { StreamEvent } from '../../client/session-client.ts';

export type TurnEnd = 'completed' | 'failed' | 'left';

/** Has a promise for the end of each turn. The end may come before somebody asks for the promise. */
export class TurnEnds {
  readonly #ends = new Map<string, PromiseWithResolvers<TurnEnd>>();
  #isOver = false;

  /** `left` when the stream ends before the turn. */
  of(turnId: string): Promise<TurnEnd> {
    return this.#isOver ? Promise.resolve('left') : this.#end(turnId).promise;
  }

  note(told: StreamEvent): void {
    // The turns that wait behind the open one do not go on either.
    if (givenUpError(told)) for (const { resolve } of this.#ends.values()) resolve('failed');
    const { event, turnId } = told;
    if (turnId === undefined) return;
    if (event === 'response') this.#end(turnId).resolve('completed');
    if (event === 'error') this.#end(turnId).resolve('failed');
  }

  /** Call this when the stream has ended. */
  close(): void {
    this.#isOver = true;
    for (const { resolve } of this.#ends.values()) resolve('left');
  }

  #end(turnId: string): PromiseWithResolvers<TurnEnd> {
    const known = this.#ends.get(turnId);
    if (known) return known;
    const end = Promise.withResolvers<TurnEnd>();
    this.#ends.set(turnId, end);
    return end;
  }
}
