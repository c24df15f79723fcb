import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { memoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { openPostgres } from '../../src/adapters/postgres/open-postgres.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { agentStore } from '../../src/runtime/agents/agent-log.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';
import { recordingLog } from '../support/telemetry/recording-log.ts';
import { eventStoreSuite } from './event-store.ts';

let root: TempDirectory;
let postgres: PostgresServer;
beforeAll(async () => {
  [root, postgres] = await Promise.all([tempDirectory(), PostgresServer.start()]);
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await root[Symbol.asyncDispose]();
});

eventStoreSuite('the memory store', async () => memoryEventStore());

eventStoreSuite('the SQLite store', () =>
  openSqliteEventStore({ directory: join(root.path, randomUUID()), log: recordingLog() }),
);

eventStoreSuite('the PostgreSQL store', async () => {
  const identity = { name: 'the suite', version: '0' };
  return (await openPostgres(postgres.newUrl(), { identity, log: recordingLog() })).store;
});

eventStoreSuite('the view of one agent', async () => viewOf(memoryEventStore()));

/** Closes the log too. */
function viewOf(log: EventStore): EventStore {
  return { ...agentStore(log, 'support'), [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
}
