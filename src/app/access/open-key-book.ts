import { sha256Hash } from '../../adapters/sha256/sha256-hash.ts';
import { ROLES, type Scope } from '../../core/access/scopes.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { KeyBook } from '../../runtime/access/key-book.ts';

/**
 * Reads the API keys of a log.
 *
 * @param configured the roles of the service file, besides those that every service has.
 */
export function openKeyBook(
  store: EventStore,
  log: Logger,
  configured: Readonly<Record<string, readonly Scope[]>> = {},
): Promise<KeyBook> {
  return KeyBook.load({ store, log, hashing: sha256Hash, roles: { ...configured, ...ROLES } });
}
