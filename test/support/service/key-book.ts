import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { sha256Hash } from '../../../src/adapters/sha256/sha256-hash.ts';
import { ROLES } from '../../../src/core/access/scopes.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { KeyBook, type KeyBookDeps } from '../../../src/runtime/access/key-book.ts';
import { silentLog } from './running-service.ts';

/** The API keys of a log; of a new one in memory when left out. */
export function keyBook(
  store: EventStore = memoryEventStore(),
  deps: Partial<KeyBookDeps> = {},
): Promise<KeyBook> {
  return KeyBook.load({ store, hashing: sha256Hash, roles: ROLES, log: silentLog, ...deps });
}
