import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { memorySnapshotStore } from '../../src/adapters/memory/memory-snapshot-store.ts';
import { Database } from '../../src/adapters/postgres/database.ts';
import { NodeLease } from '../../src/adapters/postgres/node-lease.ts';
import { postgresSnapshotStore } from '../../src/adapters/postgres/postgres-snapshot-store.ts';
import { sqliteSnapshotStore } from '../../src/adapters/sqlite/snapshots/sqlite-snapshot-store.ts';
import { parseStoreUrl } from '../../src/config/addresses/store-url.ts';
import { agentSnapshots } from '../../src/runtime/agents/agent-log.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';
import { recordingLog } from '../support/telemetry/recording-log.ts';
import { snapshotStoreSuite } from './snapshot-store.ts';

let root: TempDirectory;
let postgres: PostgresServer;
beforeAll(async () => {
  [root, postgres] = await Promise.all([tempDirectory(), PostgresServer.start()]);
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await root[Symbol.asyncDispose]();
});

snapshotStoreSuite('the memory store', async () => memorySnapshotStore());

snapshotStoreSuite('the SQLite store', async () =>
  sqliteSnapshotStore({ directory: await mkdtemp(join(root.path, 'data-')), log: recordingLog() }),
);

snapshotStoreSuite('the PostgreSQL store', async () => {
  const log = recordingLog();
  const database = await Database.open(parseStoreUrl(postgres.newUrl()), log);
  const lease = await NodeLease.take(database, { name: 'a test', version: '1' }, { log });
  const store = postgresSnapshotStore(database, { lease, shares: false });
  // It keeps snapshots of sessions that the log has.
  await database.rows({
    text: `
      INSERT INTO ${database.schema}.streams (stream, head, hash, created, updated, open)
      SELECT stream, 1000, '', 0, 0, false FROM unnest($1::text[]) AS s (stream)`,
    values: [['s', 'a', 'b']],
  });
  const dispose = async () => {
    await store[Symbol.asyncDispose]();
    await lease[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  };
  return {
    load: (...load) => store.load(...load),
    save: (...save) => store.save(...save),
    erase: (sessionId) => store.erase(sessionId),
    [Symbol.asyncDispose]: dispose,
  };
});

snapshotStoreSuite('the view of one agent', async () => {
  const all = memorySnapshotStore();
  return { ...agentSnapshots(all, 'support'), [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
});
