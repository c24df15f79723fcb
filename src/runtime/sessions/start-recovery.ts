import { within } from '../../timing/deadline.ts';

/** How long after a start those who list what waits may wait for it. Without a limit, a log that is away would hold them up. */
export const MOST_RECOVERY_MS = 30_000;

/** Whether this start has looked at every session that was open. Only then is it known what waits for somebody. */
export class StartRecovery {
  readonly #over = Promise.withResolvers<void>();

  /** Resolves when each open session is loaded or could not be, or when the time for that is over. Never rejects. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** @param recovered never rejects. */
  async follow(recovered: Promise<void>, limitMs = MOST_RECOVERY_MS): Promise<void> {
    await within(limitMs, recovered, undefined);
    this.#over.resolve();
  }
}
