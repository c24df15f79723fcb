import type { SessionId } from '../../core/ids.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import type { Journal } from './journal.ts';

export interface EphemeralDeps {
  readonly journal: Pick<Journal, 'read'>;
  readonly log: Logger;
  /** Deletes the session, unless it is deleted already. */
  readonly remove: (sessionId: SessionId) => Promise<void>;
  /** A simulated one, in tests. */
  readonly clock?: Clock | undefined;
}

/** Whoever has asked reads the end of the turn before the session goes. It usually deletes the session itself. */
const GRACE_MS = 10_000;

/**
 * Deletes the sessions whose clients want nothing to be kept, once their turn is over. Until they are deleted they count as
 * open, so that the next start, or another process, finds them.
 */
export class EphemeralSessions {
  readonly #deps: EphemeralDeps;
  readonly #clock: Clock;
  readonly #waits = new Map<SessionId, unknown>();
  #stopped = false;

  constructor(deps: EphemeralDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  deleteLater(sessionId: SessionId): void {
    if (this.#stopped || this.#waits.has(sessionId)) return;
    this.#waits.set(
      sessionId,
      this.#clock.setTimeout(() => void this.#delete(sessionId), GRACE_MS),
    );
  }

  /** The session was deleted. Its id may be used again at once, for another one. */
  forget(sessionId: SessionId): void {
    this.#clock.clearTimeout(this.#waits.get(sessionId));
    this.#waits.delete(sessionId);
  }

  /** The same for a session that counts as open although nothing is open in it, if that is why. */
  async deleteLeftover(sessionId: SessionId): Promise<void> {
    const events = await this.#deps.journal.read(sessionId, 0);
    const requested = events.findLast(({ event }) => event.type === 'turn.requested')?.event;
    if (requested?.type === 'turn.requested' && requested.options?.ephemeral) this.deleteLater(sessionId);
  }

  stop(): void {
    this.#stopped = true;
    for (const wait of this.#waits.values()) this.#clock.clearTimeout(wait);
    this.#waits.clear();
  }

  async #delete(sessionId: SessionId): Promise<void> {
    this.#waits.delete(sessionId);
    try {
      await this.#deps.remove(sessionId);
    } catch (error) {
      this.#deps.log.warn({ sessionId, err: error }, 'a session that is not to be kept could not be deleted');
    }
  }
}
