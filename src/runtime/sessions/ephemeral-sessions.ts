import type { SessionId } from '../../core/ids.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';
import type { Journal } from './journal.ts';

export interface EphemeralDeps {
  readonly journal: Pick<Journal, 'pages'>;
  readonly log: Logger;
  /** Deletes the session, unless it is deleted already. */
  readonly remove: (sessionId: SessionId) => Promise<void>;
  /** A simulated one, in tests. */
  readonly clock?: Clock | undefined;
}

/** The deletion of one session, from the end of its turn until it is gone. */
interface Wait {
  timer: unknown;
  failures: number;
}

/** Time for the client to read the end of the turn. The client usually deletes the session itself. */
const GRACE_MS = 10_000;

/**
 * Deletes the sessions whose clients want nothing to be kept, once their turn is over. Until they are deleted they count as
 * open, so that the next start, or another process, finds them.
 */
export class EphemeralSessions {
  readonly #deps: EphemeralDeps;
  readonly #clock: Clock;
  readonly #waits = new Map<SessionId, Wait>();
  #stopped = false;

  constructor(deps: EphemeralDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  deleteLater(sessionId: SessionId): void {
    if (this.#stopped || this.#waits.has(sessionId)) return;
    const wait = { timer: undefined, failures: 0 };
    this.#waits.set(sessionId, wait);
    this.#deleteIn(GRACE_MS, sessionId, wait);
  }

  /** The session was deleted. Its id may be used again at once, for another one. */
  forget(sessionId: SessionId): void {
    this.#clock.clearTimeout(this.#waits.get(sessionId)?.timer);
    this.#waits.delete(sessionId);
  }

  /** For a session that counts as open without an open turn: deletes it later if its last turn was ephemeral. @returns whether it was. */
  async deleteLeftover(sessionId: SessionId): Promise<boolean> {
    let isEphemeral = false;
    for await (const page of this.#deps.journal.pages(sessionId, 0))
      for (const { event } of page)
        if (event.type === 'turn.requested') isEphemeral = event.options?.ephemeral === true;
    if (isEphemeral) this.deleteLater(sessionId);
    return isEphemeral;
  }

  stop(): void {
    this.#stopped = true;
    for (const wait of this.#waits.values()) this.#clock.clearTimeout(wait.timer);
    this.#waits.clear();
  }

  #deleteIn(ms: number, sessionId: SessionId, wait: Wait): void {
    wait.timer = this.#clock.setTimeout(() => void this.#delete(sessionId, wait), ms);
  }

  async #delete(sessionId: SessionId, wait: Wait): Promise<void> {
    try {
      await this.#deps.remove(sessionId);
      if (this.#waits.get(sessionId) === wait) this.#waits.delete(sessionId);
    } catch (error) {
      this.#deps.log.warn({ sessionId, err: error }, 'a session that is not to be kept could not be deleted');
      // Somebody else has deleted the session. What has its id now may be a new session.
      if (this.#waits.get(sessionId) !== wait) return;
      // The session's new owner deletes it.
      if (error instanceof SessionElsewhereError) this.#waits.delete(sessionId);
      else this.#deleteIn(retryDelayMs(++wait.failures), sessionId, wait);
    }
  }
}
