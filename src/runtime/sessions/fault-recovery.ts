import type { SessionId } from '../../core/ids.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';

/** Most automatic attempts for one turn. Without a limit, a turn that can never be recorded would call the model for ever. */
const MOST_ATTEMPTS = 5;

export interface FaultRecoveryDeps {
  /** Loads a session, which resumes its open turn. */
  readonly load: (sessionId: SessionId) => Promise<unknown>;
  readonly log: Logger;
  readonly clock?: Clock | undefined;
}

/**
 * Reloads sessions whose turn could not be recorded, for example because the disk was full. After a delay the turn is
 * resumed as after a restart.
 */
export class FaultRecovery {
  readonly #deps: FaultRecoveryDeps;
  readonly #clock: Clock;
  /** Failures in a row. */
  readonly #failures = new Map<SessionId, number>();
  readonly #waits = new Map<SessionId, unknown>();
  /** Those that wait for the next message or start. */
  readonly #givenUp = new Set<SessionId>();
  #stopped = false;

  constructor(deps: FaultRecoveryDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  /** Whether the session is loaded again later, or was given up. */
  has(sessionId: SessionId): boolean {
    return this.#waits.has(sessionId) || this.#givenUp.has(sessionId);
  }

  /** The session is not loaded again by itself. */
  giveUp(sessionId: SessionId): void {
    this.#failures.delete(sessionId);
    this.#givenUp.add(sessionId);
  }

  /** The session could be loaded, whoever has asked for it. */
  noteLoaded(sessionId: SessionId): void {
    this.#givenUp.delete(sessionId);
  }

  /** @param attempts how often the open turn has been started so far. */
  loadLater(sessionId: SessionId, attempts: number): void {
    if (this.#stopped || this.#waits.has(sessionId)) return;
    if (attempts >= MOST_ATTEMPTS) {
      this.giveUp(sessionId);
      this.#deps.log.error(
        { sessionId, attempts },
        'a turn could not be recorded again and again: it waits for the next message or start',
      );
      return;
    }
    const failures = (this.#failures.get(sessionId) ?? 0) + 1;
    this.#failures.set(sessionId, failures);
    const wait = this.#clock.setTimeout(
      () => void this.#load(sessionId, attempts),
      retryDelayMs(Math.max(failures, attempts)),
    );
    this.#waits.set(sessionId, wait);
  }

  stop(): void {
    this.#stopped = true;
    for (const wait of this.#waits.values()) this.#clock.clearTimeout(wait);
    this.#waits.clear();
  }

  async #load(sessionId: SessionId, attempts: number): Promise<void> {
    this.#waits.delete(sessionId);
    try {
      await this.#deps.load(sessionId);
      this.#failures.delete(sessionId);
    } catch (error) {
      if (error instanceof SessionElsewhereError) {
        // Whoever has it goes on with its turn.
        this.#failures.delete(sessionId);
        return;
      }
      this.#deps.log.warn({ sessionId, err: error }, 'a session with an open turn could not be loaded again');
      this.loadLater(sessionId, attempts);
    }
  }
}
