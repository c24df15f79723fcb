import { userInfo } from 'node:os';
import { openKeyBook } from '../../app/access/open-key-book.ts';
import { createJsonLogger } from '../../app/logger.ts';
import { MAX_AUDIT_DAYS } from '../../config/schema/auth-config.ts';
import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import { DEFAULT_TENANT } from '../../core/access/identity.ts';
import type { Scope } from '../../core/access/scopes.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { AuditTrail } from '../../runtime/access/audit-trail.ts';
import type { KeyBook } from '../../runtime/access/key-book.ts';
import type { LogSource } from '../log/log-place.ts';
import { adviseUrl, type LogUse, withEventStore } from '../transfer/stored-log.ts';
import type { KeyAdministration } from './key-administration.ts';

/** The API keys of a service that is not running, of all tenants. Only `create` makes a log where there is none. */
export function storedKeys(
  log: LogSource,
  configured: Readonly<Record<string, readonly Scope[]>> = {},
): KeyAdministration {
  const withStore = <T>(use: LogUse, work: (store: EventStore, book: KeyBook) => Promise<T>): Promise<T> =>
    withEventStore(log, use, async (store) =>
      work(store, await openKeyBook(store, createJsonLogger('warn'), configured)),
    ).catch((error: unknown) => {
      throw adviseUrl(error);
    });
  return {
    create: ({ tenant = DEFAULT_TENANT, ...key }, show) =>
      withStore('create', async (store, book) => {
        const created = await book.create({ ...key, tenant }, userOfMachine());
        try {
          await record(store, 'key.create', created.record);
        } finally {
          // Whatever fails: nobody else has the key. The process ends here if standard output cannot be written.
          await show(created);
        }
      }),
    list: () => withStore('read', async (_, book) => book.list()),
    revoke: (keyId) =>
      withStore('change', async (store, book) => {
        const revoked = await book.revoke(keyId, undefined, userOfMachine());
        await record(store, 'key.revoke', revoked);
        return revoked;
      }),
  };
}

/** Adds it to the audit trail, as a service does with what its clients ask for. */
async function record(
  store: EventStore,
  what: 'key.create' | 'key.revoke',
  { keyId, name, tenant }: ApiKeyRecord,
): Promise<void> {
  const audit = new AuditTrail({ store, log: createJsonLogger('warn'), days: MAX_AUDIT_DAYS });
  const subject = what === 'key.create' ? name : keyId;
  audit.record({ principal: localPrincipal(), tenant, what, subject, outcome: 'ok' });
  await audit[Symbol.asyncDispose]();
}

/** Whoever can write the files needs no key. The log says which user of the machine it was. */
function userOfMachine(): Origin {
  return { actor: { kind: 'client', principal: localPrincipal() }, causationId: crypto.randomUUID() };
}

function localPrincipal(): string {
  return `local:${userName()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
