import type { JsonObject } from '../../../core/json-object.ts';
import type { AnswerQuestion } from '../../../core/tool-server/server-question.ts';
import type { RequestId } from '../peer/rpc-message.ts';

/** How long a call that was given up may still make the server talk. */
const ABANDONED_MS = 60_000;

/** A request on which a server works, as far as the server may talk back. */
export interface ActiveCall {
  readonly onQuestion?: AnswerQuestion | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Aborts when the call ends. */
  readonly ended: AbortSignal;
  /**
   * Suspends the time-out of the request while a question is answered. Absent while no request is under way.
   * @returns what to call when the answer is given.
   */
  readonly suspendTimeout?: () => () => void;
}

/**
 * Finds the call that a message of the server belongs to. Clients that know nothing of each other share a connection,
 * so a message whose call is in doubt belongs to no call.
 */
export class ActiveCalls {
  readonly #calls = new Map<RequestId, ActiveCall>();
  /** Given up, but the server may still work on them. */
  readonly #abandoned = new Map<RequestId, NodeJS.Timeout>();

  get size(): number {
    return this.#calls.size;
  }

  /** Whether one of the calls is of a client that answers questions. */
  get mayAnswer(): boolean {
    return [...this.#calls.values()].some(({ onQuestion }) => onQuestion !== undefined);
  }

  add(id: RequestId, call: ActiveCall): void {
    this.#calls.set(id, call);
  }

  /** The server has answered. */
  remove(id: RequestId): void {
    this.#calls.delete(id);
    clearTimeout(this.#abandoned.get(id));
    this.#abandoned.delete(id);
  }

  /** Nobody waits for the answer any more. */
  abandon(id: RequestId): void {
    this.#calls.delete(id);
    this.#abandoned.set(id, setTimeout(() => this.#abandoned.delete(id), ABANDONED_MS).unref());
  }

  /** @param about the request on whose stream the message came; undefined if the transport has one stream for all. */
  callOf(about: RequestId | undefined): ActiveCall | undefined {
    if (about !== undefined) return this.#calls.get(about);
    if (this.#calls.size !== 1 || this.#abandoned.size > 0) return undefined;
    const [call] = this.#calls.values();
    return call;
  }

  clear(): void {
    for (const timer of this.#abandoned.values()) clearTimeout(timer);
    this.#abandoned.clear();
  }
}
