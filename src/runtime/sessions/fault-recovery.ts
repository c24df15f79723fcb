import type { SessionId } from '../../core/ids.ts';
import { StorageAwayError } from '../../core/log/storage-away.ts';
import type { OpenTurn } from '../../core/session/session-state.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';

/** Most automatic attempts for one step of a turn. Without a limit, a turn that can never be recorded would call the model for ever. */
const MAX_ATTEMPTS = 5;

type FaultedTurn = Pick<OpenTurn, 'turnId' | 'step' | 'attempt'>;

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
  /** Each turn as it was at the first fault in its present step. Earlier attempts ended by a restart or a move, not by a fault. */
  readonly #first = new Map<SessionId, FaultedTurn>();
  /** Failures in a row. */
  readonly #failures = new Map<SessionId, number>();
  readonly #waits = new Map<SessionId, unknown>();
  /** The sessions that wait for their next message, or for the next start. */
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

  /** Ends the retries: the session waits for its next message, or for the next start. */
  giveUp(sessionId: SessionId): void {
    this.#failures.delete(sessionId);
    this.#givenUp.add(sessionId);
  }

  /** Call it when the session has been loaded, whoever asked for it. */
  noteLoaded(sessionId: SessionId): void {
    this.#givenUp.delete(sessionId);
  }

  /**
   * @param open the turn that could not be recorded. Null: it is not known whether one is open.
   * @returns whether the turn goes on by itself: here later, or elsewhere if this service is stopping.
   */
  loadLater(sessionId: SessionId, open: FaultedTurn | null): boolean {
    if (this.#stopped || this.#waits.has(sessionId)) return true;
    const attempts = open ? this.#attemptsAt(sessionId, open) : 0;
    if (attempts >= MAX_ATTEMPTS) {
      this.giveUp(sessionId);
      this.#deps.log.error(
        { sessionId, attempts },
        'a turn could not be recorded again and again: it waits for the next message or start',
      );
      return false;
    }
    const failures = (this.#failures.get(sessionId) ?? 0) + 1;
    this.#failures.set(sessionId, failures);
    const wait = this.#clock.setTimeout(
      () => void this.#load(sessionId, open),
      retryDelayMs(Math.max(failures, attempts)),
    );
    this.#waits.set(sessionId, wait);
    return true;
  }

  /** Call it when nothing is open in the session any more. */
  forget(sessionId: SessionId): void {
    this.#first.delete(sessionId);
  }

  stop(): void {
    this.#stopped = true;
    for (const wait of this.#waits.values()) this.#clock.clearTimeout(wait);
    this.#waits.clear();
  }

  /** How often the turn has been tried at its present step, the attempt that failed first included. */
  #attemptsAt(sessionId: SessionId, { turnId, step, attempt }: FaultedTurn): number {
    const known = this.#first.get(sessionId);
    if (known?.turnId === turnId && known.step === step) return attempt - known.attempt + 1;
    this.#first.set(sessionId, { turnId, step, attempt });
    return 1;
  }

  async #load(sessionId: SessionId, open: FaultedTurn | null): Promise<void> {
    this.#waits.delete(sessionId);
    try {
      await this.#deps.load(sessionId);
      this.#failures.delete(sessionId);
    } catch (error) {
      if (error instanceof SessionElsewhereError) {
        // The session's new owner goes on with the turn.
        this.#failures.delete(sessionId);
        return;
      }
      // An outage of the log is reported once, and not for each session and attempt.
      const level = error instanceof StorageAwayError ? 'debug' : 'warn';
      this.#deps.log[level](
        { sessionId, err: error },
        'a session with an open turn could not be loaded again',
      );
      this.loadLater(sessionId, open);
    }
  }
}
