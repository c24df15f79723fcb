import { expect, it } from 'vitest';
import { storedKeys } from '../../../src/cli/keys/stored-keys.ts';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { sql } from '../../support/postgres/sql.ts';

it('a command that was paused until a service had taken its log over does not say that it has read all', async () => {
  await using server = await PostgresServer.start();
  const log = { dataDir: '', store: server.newUrl() };
  const reads = (meanwhile: () => Promise<unknown>) => withEventStore(log, 'create', meanwhile);
  await expect(reads(async () => 'all')).resolves.toBe('all');
  // What a service does that takes over: it removes the row of the lease that has ended.
  const takenOver = reads(() => sql(log.store, 'DELETE FROM @.nodes'));
  await expect(takenOver).rejects.toThrow(/another agent-service has taken over the log/);
});

it('a command that creates a key shows it, also if a service has taken the log over meanwhile', async () => {
  await using server = await PostgresServer.start();
  const log = { dataDir: '', store: server.newUrl() };
  const shown: string[] = [];
  const creating = storedKeys(log).create({ name: 'ci', roles: ['user'] }, async ({ record }) => {
    await sql(log.store, 'DELETE FROM @.nodes');
    shown.push(record.name);
  });
  await expect(creating).rejects.toThrow(/another agent-service has taken over the log/);
  expect(shown).toEqual(['ci']);
});
