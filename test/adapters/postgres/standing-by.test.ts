import { expect, it } from 'vitest';
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { sql } from '../../support/postgres/sql.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/** No longer than a failover takes. */
const TIMEOUTS = { connectMs: 1_000, statementMs: 5_000, silenceMs: 1_000, patienceMs: 100 };
/** Only its end gives the lease of the first service up. */
const QUIET = { leaseMs: 600_000, renewMs: 300_000 };
const LIVELY = { leaseMs: 1_000, renewMs: 100 };

it('a service that stands by also waits while the database is away', async () => {
  await using server = await PostgresServer.start();
  const url = server.newUrl();
  const identity = { name: 'first', version: '1' };
  const first = await openPostgres(url, { identity, log: recordingLog(), leaseTimes: QUIET });
  const log = recordingLog();
  const said = () => log.lines.map(({ message }) => message);
  const options = { log, standsBy: true, leaseTimes: LIVELY, timeouts: TIMEOUTS };
  const standing = openPostgres(url, { identity: { ...identity, name: 'second' }, ...options });
  // Looked at below. Until then, nobody else would handle its failure.
  const outcome = standing.then(
    () => 'has the log',
    (error: unknown) => error,
  );
  await expect.poll(said).toContain('standing by: another service has the log');
  await server.end('SIGQUIT');
  await expect.poll(said).toContain('PostgreSQL cannot be reached');
  await server.run();
  await first.store[Symbol.asyncDispose]();
  expect(await outcome).toBe('has the log');
  await (await standing).store[Symbol.asyncDispose]();
});

it('a service that stands by does not take the log from one that could not reach the database either', async () => {
  await using server = await PostgresServer.start();
  const url = server.newUrl();
  // Starting the database again takes longer than this lease lasts, and nothing else that happens here does.
  const brief = { leaseMs: 600, renewMs: 50 };
  const identity = { name: 'a service', version: '1' };
  const first = await openPostgres(url, { identity, log: recordingLog(), leaseTimes: brief });
  const log = recordingLog();
  const said = () => log.lines.map(({ message }) => message);
  const impatient = { log, standsBy: true, leaseTimes: { ...brief, renewMs: 5 }, timeouts: TIMEOUTS };
  const standing = openPostgres(url, { identity, ...impatient });
  await expect.poll(said).toContain('standing by: another service has the log');
  await server.end('SIGQUIT');
  await expect.poll(said).toContain('PostgreSQL cannot be reached');
  await server.run();
  await expect.poll(said).toContain('PostgreSQL can be reached again');
  const lasting = () => sql(url, 'SELECT FROM @.nodes WHERE lease_end > clock_timestamp()');
  await expect.poll(lasting).toHaveLength(1);
  await first.requireLease();
  await first.store[Symbol.asyncDispose]();
  await (await standing).store[Symbol.asyncDispose]();
});
