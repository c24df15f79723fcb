import { StaleVersionError } from '../../ports/event-store.ts';

/** Of several nodes that append at the same time, one wins each time. So this bounds how many nodes may do so. */
const MAX_TRIES = 20;

/**
 * For an append to a stream that other nodes write, too. Calls `attempt` again when another node was first. Each attempt
 * reads what is new and decides again. Rejects with the last `StaleVersionError` when another node was always first.
 */
export async function againWhenStale<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StaleVersionError) || tries === MAX_TRIES) throw error;
    }
  }
}
