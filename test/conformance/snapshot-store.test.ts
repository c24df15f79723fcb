import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { memorySnapshotStore } from '../../src/adapters/memory/memory-snapshot-store.ts';
import { sqliteSnapshotStore } from '../../src/adapters/sqlite/snapshots/sqlite-snapshot-store.ts';
import { agentSnapshots } from '../../src/runtime/agents/agent-log.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';
import { recordingLog } from '../support/telemetry/recording-log.ts';
import { snapshotStoreSuite } from './snapshot-store.ts';

let root: TempDirectory;
beforeAll(async () => {
  root = await tempDirectory();
});
afterAll(async () => {
  await root[Symbol.asyncDispose]();
});

snapshotStoreSuite('the memory store', async () => memorySnapshotStore());

snapshotStoreSuite('the SQLite store', async () =>
  sqliteSnapshotStore({ directory: await mkdtemp(join(root.path, 'data-')), log: recordingLog() }),
);

snapshotStoreSuite('the view of one agent', async () => {
  const all = memorySnapshotStore();
  return { ...agentSnapshots(all, 'support'), [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
});
