import { within } from '../../timing/deadline.ts';

/** Lists of what waits are delayed by at most this time after a start. Without a limit, they would hang while the log is away. */
export const MAX_RECOVERY_MS = 30_000;

/** Whether this start has looked at every session that was open. Only then is it known what waits for somebody. */
export class StartRecovery {
  readonly #over = Promise.withResolvers<void>();

  /** Resolves when each open session is loaded or could not be, or when the time for that is over. Never rejects. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** @param recovered never rejects. */
  async follow(recovered: Promise<void>, limitMs = MAX_RECOVERY_MS): Promise<void> {
    await within(limitMs, recovered, undefined);
    this.#over.resolve();
  }
}
