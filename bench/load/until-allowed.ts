import { Refused } from './refused.ts';
import { within } from './within.ts';

export interface Patience {
  readonly timeoutSeconds: number;
  /** After its abort the work is not done again. */
  readonly stopping: AbortSignal;
  /** Waits for the end of a limit. */
  readonly waitOut: (limitMs: number) => Promise<void>;
}

/** Does the work again after each limit of the service. The waits do not count against the time-out. */
export async function untilAllowed(
  { timeoutSeconds, stopping, waitOut }: Patience,
  work: (late: AbortSignal) => Promise<void>,
): Promise<void> {
  do {
    try {
      return await within(timeoutSeconds, work);
    } catch (error) {
      if (!(error instanceof Refused) || error.limitMs === null) throw error;
      await waitOut(error.limitMs);
    }
  } while (!stopping.aborted);
}
