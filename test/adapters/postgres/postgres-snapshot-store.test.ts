import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { FencedError } from '../../../src/core/log/fenced.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import type { Membership } from '../../../src/ports/membership.ts';
import { oneByOne } from '../../conformance/snapshot-store.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { schemaOf, sql } from '../../support/postgres/sql.ts';
import { eventually } from '../../support/project/eventually.ts';
import { SeverableLink } from '../../support/sockets/severable-link.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/** Only what the test does renews a lease. */
const QUIET = { leaseMs: 600_000, renewMs: 300_000, graceMs: 0 };
/** What waits for a lock of the test says nothing meanwhile. */
const PATIENT = { connectMs: 60_000, statementMs: 60_000, silenceMs: 60_000, patienceMs: 60_000 };
const STARTED: SessionEvent = { type: 'turn.started', turnId: 't' };

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** A node of a cluster on the log. */
async function join(url: string, name: string) {
  const opened = await openPostgres(url, {
    identity: { name, version: '1' },
    log: recordingLog(),
    leaseTimes: QUIET,
    timeouts: PATIENT,
    shares: true,
  });
  const membership = opened.membership as Membership;
  return { ...opened, membership, [Symbol.asyncDispose]: () => opened.store[Symbol.asyncDispose]() };
}

/** A cluster of two nodes. The first one has begun the session `s`, and saved its snapshot. */
async function start() {
  const url = server.newUrl();
  const one = await join(url, 'one');
  const other = await join(url, 'other');
  one.membership.presumeNew('s');
  await one.store.append('s', 0, [STARTED]);
  await one.snapshots.save('s', 1, oneByOne('saved'));
  const close = async (): Promise<void> => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { url, one, other, [Symbol.asyncDispose]: close };
}

const SAVED = { seq: 1, parts: ['saved'] };

describe('a snapshot in PostgreSQL', () => {
  it('is saved for events that the log has', async () => {
    await using cluster = await start();
    const { snapshots } = cluster.one;
    expect(await snapshots.load('s')).toEqual(SAVED);
    await snapshots.save('s', 2, oneByOne('too early'));
    await snapshots.save('none', 1, oneByOne('of no session'));
    expect(await snapshots.load('s')).toEqual(SAVED);
    expect(await snapshots.load('none')).toBeUndefined();
  });

  it('is found although a connection is lost, and one that cannot be saved says that the database is away', async () => {
    const url = server.newUrl();
    await using link = await SeverableLink.to(server.port);
    await using node = await join(url.replace(`:${server.port}`, `:${link.port}`), 'a node');
    node.membership.presumeNew('s');
    await node.store.append('s', 0, [STARTED]);
    await node.snapshots.save('s', 1, oneByOne('saved'));
    link.cutAfterAnswers(0);
    expect(await node.snapshots.load('s')).toEqual(SAVED);
    link.cutAfterAnswers(0);
    await expect(node.snapshots.save('s', 1, oneByOne('again'))).rejects.toBeInstanceOf(StorageAwayError);
  });

  it('is not saved by a node that has given the session up, also after its deletion', async () => {
    await using cluster = await start();
    const { url, one, other } = cluster;
    await one.membership.release(['s']);
    await other.membership.claim('s');
    await one.snapshots.save('s', 1, oneByOne('late'));
    expect(await one.snapshots.load('s')).toEqual(SAVED);
    await other.snapshots.save('s', 1, oneByOne('of the owner'));
    expect(await one.snapshots.load('s')).toEqual({ seq: 1, parts: ['of the owner'] });
    await other.snapshots.erase('s');
    await other.store.erase('s');
    await one.snapshots.save('s', 1, oneByOne('late'));
    expect(await sql(url, 'SELECT text FROM @.snapshots')).toEqual([]);
  });

  it('is not saved by a node that has lost its lease', async () => {
    await using cluster = await start();
    const { url, one } = cluster;
    await sql(url, `DELETE FROM @.nodes WHERE node = ${one.membership.self}`);
    await expect(one.snapshots.save('s', 1, oneByOne('late'))).rejects.toBeInstanceOf(FencedError);
    expect(await one.snapshots.load('s')).toEqual(SAVED);
  });

  it('goes with its session if it is saved while that is erased', async () => {
    await using cluster = await start();
    const { url, one } = cluster;
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    // The save waits for this transaction, and the erasure for the save.
    await blocker.query('BEGIN');
    await blocker.query(`SELECT FROM ${schemaOf(url)}.snapshots FOR UPDATE`);
    const waiting = (count: number) =>
      eventually(
        () => sql(url, 'SELECT pid FROM pg_locks WHERE NOT granted'),
        ({ length }) => length >= count,
      );
    const saved = one.snapshots.save('s', 1, oneByOne('while it is erased'));
    await waiting(1);
    const erased = one.store.erase('s');
    await waiting(2);
    await blocker.query('COMMIT');
    await blocker.end();
    await Promise.all([saved, erased]);
    expect(await sql(url, 'SELECT text FROM @.snapshots')).toEqual([]);
  });
});
