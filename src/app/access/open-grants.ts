import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { GrantBook } from '../../runtime/access/grant-book.ts';
import type { LocalBus } from '../../runtime/bus/local-bus.ts';
import type { SessionRegistry } from '../../runtime/sessions/session-registry.ts';

export interface GrantsDeps {
  readonly store: EventStore;
  /** Gets the handlers. */
  readonly bus: LocalBus;
  readonly sessions: SessionRegistry;
  readonly log: Logger;
}

/** Reads which sessions are shared. Loads what is needed only where sessions belong to somebody. */
export async function openGrants({ store, bus, sessions, log }: GrantsDeps): Promise<GrantBook> {
  const [{ GrantBook }, { answerForGrants }] = await Promise.all([
    import('../../runtime/access/grant-book.ts'),
    import('../../runtime/requests/grant-requests.ts'),
  ]);
  const grants = await GrantBook.load(store, log);
  answerForGrants(bus, grants, sessions);
  return grants;
}
