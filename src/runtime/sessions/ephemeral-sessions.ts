import type { SessionId } from '../../core/ids.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';
import type { Journal } from './journal.ts';

export interface EphemeralDeps {
  readonly journal: Pick<Journal, 'pages'>;
  readonly log: Logger;
  /**
   * Deletes the session, unless it is deleted already. @param onlyAt does nothing unless the session's last event has this
   * seq.
   */
  readonly remove: (sessionId: SessionId, onlyAt: number | undefined) => Promise<void>;
  /** A simulated one, in tests. */
  readonly clock?: Clock | undefined;
}

/** The deletion of one session, from the end of its turn until it is gone. */
interface Wait {
  /** The session stays if its last event has another seq. */
  readonly onlyAt: number | undefined;
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
    this.#deleteLater(sessionId, undefined);
  }

  /** For a fork that was made for an ephemeral turn. @param head seq of its last event: the turn begins behind it, or never. */
  deleteUnlessBegun(sessionId: SessionId, head: number): void {
    this.#deleteLater(sessionId, head);
  }

  #deleteLater(sessionId: SessionId, onlyAt: number | undefined): void {
    const before = this.#waits.get(sessionId);
    if (this.#stopped || (before && before.onlyAt === onlyAt)) return;
    if (before) this.forget(sessionId);
    const wait = { onlyAt, timer: undefined, failures: 0 };
    this.#waits.set(sessionId, wait);
    this.#deleteIn(GRACE_MS, sessionId, wait);
  }

  /** The session was deleted. Its id may be used again at once, for another one. */
  forget(sessionId: SessionId): void {
    this.#clock.clearTimeout(this.#waits.get(sessionId)?.timer);
    this.#waits.delete(sessionId);
  }

  /**
   * For a session that counts as open without an open turn: deletes it later if its last turn was ephemeral, or never began.
   * @returns whether that is so.
   */
  async deleteLeftover(sessionId: SessionId): Promise<boolean> {
    let last: SessionEventOf<'turn.requested' | 'session.forked'> | undefined;
    let head = 0;
    for await (const page of this.#deps.journal.pages(sessionId, 0))
      for (const { event, seq } of page) {
        head = seq;
        if (event.type === 'turn.requested' || event.type === 'session.forked') last = event;
      }
    if (last?.type === 'session.forked') {
      if (last.ephemeral) this.deleteUnlessBegun(sessionId, head);
      return last.ephemeral === true;
    }
    if (last?.options?.ephemeral) this.deleteLater(sessionId);
    return last?.options?.ephemeral === true;
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
      await this.#deps.remove(sessionId, wait.onlyAt);
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
