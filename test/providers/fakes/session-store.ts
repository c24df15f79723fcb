import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { memorySnapshotStore } from '../../../src/adapters/memory/memory-snapshot-store.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';
import { type ServiceOptions, silentLog } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

/** Where the services of a test, one after the other, find the sessions of those before. */
export interface SessionStore extends AsyncDisposable {
  /** What a service is started with. */
  readonly options: () => Pick<ServiceOptions, 'dataDir' | 'adapters'>;
  /** The log of a session. No service may run meanwhile. */
  log(session: string): Promise<readonly LoggedEvent[]>;
}

/** A data directory. Each service opens it anew, which takes most of the time that such a test takes. */
export async function onDisk(): Promise<SessionStore> {
  const folder = await tempDirectory();
  return {
    options: () => ({ dataDir: folder.path }),
    async log(session) {
      await using store = await openSqliteEventStore({ directory: folder.path, log: silentLog });
      return logIn(store, session);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Holds the same texts as a data directory does. */
export function inMemory(): SessionStore {
  const store = memoryEventStore();
  return {
    options: () => ({ adapters: { store: keptOpen(store), snapshots: memorySnapshotStore() } }),
    log: (session) => logIn(store, session),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

async function logIn(store: EventStore, session: string): Promise<readonly LoggedEvent[]> {
  return (await store.read(session, 0)).map(({ event }) => event);
}
