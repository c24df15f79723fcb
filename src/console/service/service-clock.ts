/**
 * The clock of the service, which has the times of the log. The clock of this machine may be an hour apart from it, so
 * only their difference is used.
 */
export class ServiceClock {
  /** How far the clock of the service is ahead of the one of this machine, in milliseconds. */
  #aheadMs: number;

  constructor(aheadMs = 0) {
    this.#aheadMs = aheadMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** @param timestamp of an answer that has just come, in ISO 8601. */
  set(timestamp: string): void {
    this.#aheadMs = Date.parse(timestamp) - Date.now();
  }

  /** In milliseconds since the epoch. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }
}
