import { userInfo } from 'node:os';
import { openKeyBook } from '../../app/access/open-key-book.ts';
import { createJsonLogger } from '../../app/logger.ts';
import { DEFAULT_TENANT } from '../../core/access/identity.ts';
import type { Scope } from '../../core/access/scopes.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { KeyBook } from '../../runtime/access/key-book.ts';
import { adviseUrl, withEventStore } from '../transfer/data-directory.ts';
import type { KeyAdministration } from './key-administration.ts';

/** The API keys of a service that is not running, of all tenants. Only `create` makes a log where there is none. */
export function storedKeys(
  dataDir: string,
  configured: Readonly<Record<string, readonly Scope[]>> = {},
): KeyAdministration {
  const withBook = <T>(mode: 'read' | 'write', work: (book: KeyBook) => Promise<T>): Promise<T> =>
    withEventStore(dataDir, mode, async (store) =>
      work(await openKeyBook(store, createJsonLogger('warn'), configured)),
    );
  return {
    create: ({ tenant = DEFAULT_TENANT, ...key }) =>
      withBook('write', (book) => book.create({ ...key, tenant }, userOfMachine())).catch(
        (error: unknown) => {
          throw adviseUrl(error);
        },
      ),
    list: () => withBook('read', async (book) => book.list()),
    revoke: (keyId) => withBook('read', (book) => book.revoke(keyId, undefined, userOfMachine())),
  };
}

/** Whoever can write the files needs no key. The log says which user of the machine it was. */
function userOfMachine(): Origin {
  return { actor: { kind: 'client', principal: `local:${userName()}` }, causationId: crypto.randomUUID() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
