import type { SessionId } from '../../core/ids.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import { IdFilter } from './id-filter.ts';

/** A page of this size keeps the thread of the log busy for less than a millisecond. Appends wait that long. */
const PAGE_IDS = 1_000;

/**
 * `absent`: the log certainly has no event of the session. `likely`: it has some, or had some;
 * in at most one of a hundred cases neither is true. `unknown`: the ids of the log are not read yet.
 */
export type Presence = 'absent' | 'likely' | 'unknown';

/** Which sessions the log may have. It is complete only where no other process writes sessions into the log. */
export class KnownSessions {
  readonly #ids = new IdFilter();
  #isComplete = false;

  /** Call before the first event of a session is appended. */
  add(sessionId: SessionId): void {
    this.#ids.add(sessionId);
  }

  presence(sessionId: SessionId): Presence {
    if (this.#ids.mayHave(sessionId)) return 'likely';
    return this.#isComplete ? 'absent' : 'unknown';
  }

  /** Reads the ids of the log, with time for other work in between. Stops early when the signal says so. */
  async learn(store: Pick<EventStore, 'streamIds'>, signal?: AbortSignal): Promise<void> {
    let after = '';
    let page: readonly string[];
    do {
      page = await store.streamIds(after, PAGE_IDS);
      for (const id of page) this.#ids.add(id);
      after = page.at(-1) ?? after;
      await nextLoop();
      if (signal?.aborted) return;
    } while (page.length === PAGE_IDS);
    this.#isComplete = true;
  }
}
