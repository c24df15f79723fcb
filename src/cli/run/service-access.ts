import type { ClientAccess, ClientAccessOptions } from '../../app/access/client-access.ts';
import type { AuthConfig } from '../../config/schema/auth-config.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { KeyBook } from '../../runtime/access/key-book.ts';

interface AccessOptions extends Omit<ClientAccessOptions, 'audit'> {
  /** The log of the service. */
  readonly store: EventStore;
}

/** Loads what authenticates clients only where they are authenticated. */
export async function accessOf({ store, ...options }: AccessOptions): Promise<ClientAccess> {
  const [{ clientAccess }, { AuditTrail }] = await Promise.all([
    import('../../app/access/client-access.ts'),
    import('../../runtime/access/audit-trail.ts'),
  ]);
  const { auth, log } = options;
  return clientAccess({ ...options, audit: new AuditTrail({ store, log, days: auth.auditDays }) });
}

/** The API keys, where the service has some. */
export async function keysOf(
  auth: AuthConfig | undefined,
  store: EventStore,
  log: Logger,
): Promise<KeyBook | undefined> {
  if (!auth?.apiKeys) return undefined;
  const { openKeyBook } = await import('../../app/access/open-key-book.ts');
  return openKeyBook(store, log, auth.roles);
}
