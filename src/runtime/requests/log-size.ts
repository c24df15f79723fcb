import type { EventStore, LogSize } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { within } from '../../timing/deadline.ts';

/** Nobody who asks for the health of the service waits longer for the disk. */
const ANSWER_MS = 1_000;

/** How large the log is; null if it does not answer. `/readyz` reports a log that cannot be used. */
export async function logSize(store: Pick<EventStore, 'size'>, log: Logger): Promise<LogSize | null> {
  try {
    return await within(ANSWER_MS, store.size(), null);
  } catch (error) {
    log.debug({ err: error }, 'the size of the event log is not known');
    return null;
  }
}
