import { TimeoutError } from './session-errors.ts';
import type { SessionStatus } from './session-options.ts';
import { checkTimeout } from './wait-limits.ts';

/** Limits how long a client is without a connection. */
export class Patience {
  readonly #timeoutMs: number | undefined;
  readonly #onOver: (error: TimeoutError) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why the last attempt failed. */
  #reason: unknown;

  /** @throws RangeError when the time is none. */
  constructor(timeoutMs: number | undefined, onOver: (error: TimeoutError) => void) {
    checkTimeout(timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.#onOver = onOver;
    this.note('connecting');
  }

  /** Call this after each change of the status. */
  note(status: SessionStatus): void {
    clearTimeout(this.#timer);
    this.#reason = undefined;
    const timeoutMs = this.#timeoutMs;
    if (status !== 'connecting' || timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#onOver(new TimeoutError('there was no connection to the service', timeoutMs, this.#reason));
    }, timeoutMs);
  }

  /** Why there is no connection, if that is known. */
  get reason(): unknown {
    return this.#reason;
  }

  failed(reason: unknown): void {
    this.#reason = reason;
  }
}
