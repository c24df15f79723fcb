import { limitExceeded } from '../../core/limit-errors.ts';
import { WindowLimit } from './rate-limits.ts';

/** Refused credentials per minute, of one address and of one key. */
const PER_ADDRESS = 20;
const PER_KEY = 20;
const DELAY_MS = 1_000;
/** Answers that may be held back at once. Each holds a connection of its client open. */
const MAX_DELAYED = 1_000;

/**
 * Slows down who guesses: too many refused credentials of an address, or for one key, are answered late and with a limit.
 * A valid credential is never held back, so nobody can lock out others who share an address or a key. Only the tickets of
 * other nodes are not looked for while an address is at its limit.
 */
export class FailedAttempts {
  readonly #byAddress = new WindowLimit(PER_ADDRESS);
  readonly #byKey = new WindowLimit(PER_KEY);
  readonly #wait: (ms: number) => Promise<unknown>;
  #delayed = 0;

  constructor(wait: (ms: number) => Promise<unknown>) {
    this.#wait = wait;
  }

  /**
   * Counts a refused credential. Rejects with `RATE_LIMIT_EXCEEDED`, a second later, if there were too many.
   * @param key the public id of what was guessed at. Null if there is none.
   */
  async note(address: string, key: string | null): Promise<void> {
    const ofAddress = this.#byAddress.take(address);
    // An address at its limit is refused anyway. It could make up keys without end, each of which would be remembered.
    const ofKey = key === null || ofAddress?.exceeded ? null : this.#byKey.take(key);
    const exceeded = [ofAddress, ofKey].find((allowance) => allowance?.exceeded);
    if (!exceeded) return;
    await this.#delay();
    throw limitExceeded(`${exceeded.limit} refused credentials per minute`, exceeded);
  }

  /** Whether one more refused credential of the address would be too many. */
  isAtLimit(address: string): boolean {
    return this.#byAddress.isUsedUp(address);
  }

  async #delay(): Promise<void> {
    if (this.#delayed >= MAX_DELAYED) return;
    this.#delayed += 1;
    try {
      await this.#wait(DELAY_MS);
    } finally {
      this.#delayed -= 1;
    }
  }
}
