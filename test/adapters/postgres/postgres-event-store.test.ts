import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../../../src/adapters/postgres/database.ts';
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts';
import { READING } from '../../../src/adapters/postgres/postgres-errors.ts';
import type { Session, Statement } from '../../../src/adapters/postgres/sql-session.ts';
import { parseStoreUrl } from '../../../src/config/addresses/store-url.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { StoreClosedError } from '../../../src/core/log/store-closed.ts';
import { type EventStore, StaleVersionError } from '../../../src/ports/event-store.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { sql } from '../../support/postgres/sql.ts';
import { eventually } from '../../support/project/eventually.ts';
import { SeverableLink } from '../../support/sockets/severable-link.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/** Nothing but the test talks to the server. */
const QUIET = { leaseMs: 600_000, renewMs: 300_000 };
const SHORT = { leaseMs: 300, renewMs: 50 };

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** More than are copied at once. */
const LONG_EVENTS = 1_201;

const started = (turnId: string): SessionEvent => ({ type: 'turn.started', turnId });

const IMPATIENT = { connectMs: 200, statementMs: 10_000, silenceMs: 200, patienceMs: 300 };
/** Takes what is slow on a busy machine for no silence. */
const SOON_SILENT = { ...IMPATIENT, connectMs: 10_000, silenceMs: 1_000 };

async function open(
  url: string,
  { name = 'a test', leaseTimes = QUIET, timeouts = undefined as typeof IMPATIENT | undefined } = {},
) {
  const log = recordingLog();
  const identity = { name, version: '1' };
  const stores = await openPostgres(url, { identity, log, leaseTimes, ...(timeouts && { timeouts }) });
  return { ...stores, log, [Symbol.asyncDispose]: () => stores.store[Symbol.asyncDispose]() };
}

async function turnsOf(store: EventStore, sessionId: string): Promise<unknown[]> {
  return (await store.read(sessionId, 0)).map(({ event }) => 'turnId' in event && event.turnId);
}

interface Meddling {
  readonly before?: (statement: Statement) => Promise<unknown>;
  readonly after?: (statement: Statement) => Promise<unknown>;
}

/** The session, with something done before or after each of its statements. */
function meddling(session: Session, { before, after }: Meddling): Session {
  return {
    rows: async (statement) => {
      await before?.(statement);
      const rows = await session.rows(statement);
      await after?.(statement);
      return rows;
    },
  };
}

describe('a fork in PostgreSQL', () => {
  it('of a long session keeps no append waiting, not even one to the id that it is to have', async () => {
    await using service = await open(server.newUrl());
    const { store } = service;
    await store.adopt('long', elsewhere(Array.from({ length: LONG_EVENTS }, (_, index) => `t${index}`)));
    const copying = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    const after = async ({ text }: Statement) => {
      if (!/^\s*INSERT/.test(text)) return;
      copying.resolve();
      await others.promise;
    };
    const transacting = vi.spyOn(Database.prototype, 'transact');
    transacting.mockImplementation(function (this: Database, work, options) {
      transacting.mockRestore();
      return this.transact((session) => work(meddling(session, { after })), options);
    });
    const fork = store.fork('long', LONG_EVENTS, 'fork');
    await copying.promise;
    await store.append('fork', 0, [started('mine')]);
    await store.append('other', 0, [started('x')]);
    others.resolve();
    await expect(fork).rejects.toThrow(StaleVersionError);
    expect(await turnsOf(store, 'fork')).toEqual(['mine']);
  });

  it('of a long session has all of its events', async () => {
    await using service = await open(server.newUrl());
    const { store } = service;
    const turnIds = Array.from({ length: LONG_EVENTS }, (_, index) => `t${index}`);
    await store.adopt('long', elsewhere(turnIds));
    await store.fork('long', LONG_EVENTS - 1, 'fork');
    expect(await turnsOf(store, 'fork')).toEqual(turnIds.slice(0, -1));
    expect(await store.append('fork', LONG_EVENTS - 1, [started('next')])).toMatchObject([
      { seq: LONG_EVENTS },
    ]);
  });
});

describe('a log in PostgreSQL whose connection is cut', () => {
  const linked = async () => {
    const link = await SeverableLink.to(server.port);
    const url = server.newUrl().replace(`:${server.port}`, `:${link.port}`);
    return { link, url, direct: url.replace(`:${link.port}`, `:${server.port}`) };
  };

  it('stores an append once, although its first answer was lost', async () => {
    const { link, url, direct } = await linked();
    await using _ = link;
    await using service = await open(url);
    await service.store.append('s', 0, [started('a')]);
    link.cutAfterAnswers(0);
    const appended = await service.store.append('s', 1, [started('b')], { open: true });
    expect(appended).toMatchObject([{ seq: 2 }]);
    expect(await turnsOf(service.store, 's')).toEqual(['a', 'b']);
    expect(await sql(direct, 'SELECT head, open FROM @.streams')).toEqual([{ head: 2, open: true }]);
    // It knows the end of the stream.
    expect(await service.store.append('s', 2, [started('c')])).toMatchObject([{ seq: 3 }]);
  });

  it.each([0, 1, 2, 3])(
    'stores an append once whose stream it has to read first, when it is cut after %i answers',
    async (answers) => {
      const { link, url } = await linked();
      await using _ = link;
      {
        await using before = await open(url);
        await before.store.append('s', 0, [started('a')]);
        await before.store.append('other', 0, [started('x')]);
      }
      await using service = await open(url);
      // Over the connection that is cut then.
      await service.store.append('other', 1, [started('y')]);
      link.cutAfterAnswers(answers);
      expect(await service.store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
      expect(await turnsOf(service.store, 's')).toEqual(['a', 'b']);
    },
  );

  it('does not say that nothing is stored when a part of a batch is, and the rest could not be read', async () => {
    const { link, url } = await linked();
    await using _ = link;
    {
      await using before = await open(url);
      await before.store.append('old', 0, [started('a')]);
    }
    await using service = await open(url, { timeouts: SOON_SILENT });
    await service.store.append('mine', 0, [started('m1')]);
    // Asked once the one statement of the batch is answered.
    const before = async ({ name }: Statement) => name === 'heads' && link.sever();
    const appending = vi.spyOn(Database.prototype, 'appending');
    appending.mockImplementation(function (this: Database, work) {
      appending.mockRestore();
      return this.appending((session) => work(meddling(session, { before })));
    });
    const [, mine] = await Promise.allSettled([
      // As if it were new.
      service.store.append('old', 0, [started('x')]),
      service.store.append('mine', 1, [started('m2')]),
    ]);
    await link.restore();
    expect(mine).toMatchObject({
      status: 'rejected',
      reason: { name: 'StorageAwayError', mayBeStored: true },
    });
    await expect.poll(() => turnsOf(service.store, 'mine').catch(() => [])).toEqual(['m1', 'm2']);
  });

  it('asks over another connection when one has said nothing for longer than it is patient', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url, { timeouts: { ...IMPATIENT, silenceMs: 400 } });
    await service.store.append('s', 0, [started('a')]);
    link.muteOpen();
    expect(await service.store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
    expect(await turnsOf(service.store, 's')).toEqual(['a', 'b']);
  });

  it('asks over new connections when all that there are say nothing any more, and finds that out once', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url, { timeouts: SOON_SILENT });
    const { store, log } = service;
    await store.append('s', 0, [started('a')]);
    const readAtOnce = () => Promise.all(Array.from({ length: 7 }, () => turnsOf(store, 's')));
    await readAtOnce();
    link.muteOpen();
    expect(await turnsOf(store, 's')).toEqual(['a']);
    // It is not repeated.
    await store.fork('s', 1, 'fork');
    expect(await readAtOnce()).toEqual(Array.from({ length: 7 }, () => ['a']));
    expect(await store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
    expect(log.lines.filter(({ message }) => /reached/.test(message))).toEqual([]);
  });

  it.each([{ sessionId: 's' }, { limit: 10 }])(
    'waits no longer for an answer about few sessions than about one page of events: %o',
    async (filter) => {
      const { link, url } = await linked();
      await using _ = link;
      await using service = await open(url, { timeouts: { ...SOON_SILENT, statementMs: 600_000 } });
      await service.store.append('s', 0, [started('a')]);
      link.muteOpen();
      expect(await service.store.sessions(filter)).toMatchObject([{ sessionId: 's', head: 1 }]);
    },
  );

  it('hears from the lease that connections say nothing any more', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using database = await Database.open(parseStoreUrl(url), recordingLog(), { timeouts: SOON_SILENT });
    const one = { text: 'SELECT 1 AS one' };
    await Promise.all([
      database.leaseRows(one, 1_000),
      ...Array.from({ length: 7 }, () => database.rows(one)),
    ]);
    link.muteOpen();
    await expect(database.leaseRows(one, 1_000)).rejects.toThrow('timeout');
    expect(await database.rows(one)).toEqual([{ one: 1 }]);
  });

  it.each(Array.from({ length: 12 }, (_, answers) => answers))(
    'stores all of what is asked or nothing when it is cut after %i answers',
    async (answers) => {
      const { link, url } = await linked();
      await using _ = link;
      await using service = await open(url);
      const { store } = service;
      await store.append('from', 0, [started('a'), started('b')]);
      await store.append('gone', 0, [started('x')]);
      link.cutAfterAnswers(answers);
      const appends = [
        store.append('twice', 0, [started('c')]),
        store.append('twice', 1, [started('d')]),
        store.append('once', 0, [started('e')]),
      ];
      const settled = await Promise.allSettled([
        ...appends,
        store.fork('from', 1, 'fork'),
        store.adopt('adopted', elsewhere(['f', 'g'])),
        store.erase('gone'),
      ]);
      const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      for (const error of errors) expect(error).toBeInstanceOf(StorageAwayError);
      // Appends and erasures are repeated until their outcome is known.
      expect(settled.map(({ status }) => status).filter((_, index) => ![3, 4].includes(index))).toEqual(
        Array.from({ length: 4 }, () => 'fulfilled'),
      );
      expect(await turnsOf(store, 'twice')).toEqual(['c', 'd']);
      expect(await turnsOf(store, 'once')).toEqual(['e']);
      expect(await turnsOf(store, 'gone')).toEqual([]);
      const [, , , forked, adopted] = settled;
      const [fork, adoption] = [await turnsOf(store, 'fork'), await turnsOf(store, 'adopted')];
      if (forked?.status === 'fulfilled') expect(fork).toEqual(['a']);
      else {
        expect([[], ['a']]).toContainEqual(fork);
        if (fork.length > 0) expect(forked).toMatchObject({ reason: { mayBeStored: true } });
      }
      if (adopted?.status === 'fulfilled') expect(adoption).toEqual(['f', 'g']);
      else expect([[], ['f', 'g']]).toContainEqual(adoption);
    },
  );

  it('says of a fork that it may be stored if its last answer was lost', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url);
    const { store } = service;
    await store.append('from', 0, [started('a'), started('b')]);
    const stored: unknown[] = [];
    let isDone = false;
    for (let answers = 0; !isDone; answers += 1) {
      const to = `fork${answers}`;
      link.cutAfterAnswers(answers);
      const error = await store.fork('from', 1, to).then(
        () => null,
        (reason: unknown) => reason,
      );
      isDone = error === null;
      if (!isDone && (await turnsOf(store, to)).length > 0) stored.push(error);
    }
    expect(stored).not.toEqual([]);
    for (const error of stored) expect(error).toMatchObject({ name: 'StorageAwayError', mayBeStored: true });
  });

  it('repeats an append although a fork has failed before, which is not repeated', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url);
    const { store } = service;
    await store.append('s', 0, [started('a')]);
    link.cutAfterAnswers(0);
    await expect(store.fork('s', 1, 'fork')).rejects.toThrow(StorageAwayError);
    link.cutAfterAnswers(0);
    expect(await store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
  });

  it.each([0, 1, 2, 3, 4])(
    'stores two appends to one stream once each when it is cut after %i answers of their transaction',
    async (answers) => {
      const { link, url } = await linked();
      await using _ = link;
      await using service = await open(url);
      const { store } = service;
      await store.append('s', 0, [started('a')]);
      link.cutAfterAnswers(answers);
      const both = [store.append('s', 1, [started('b')]), store.append('s', 2, [started('c')])];
      expect((await Promise.all(both)).map(([appended]) => appended?.seq)).toEqual([2, 3]);
      expect(await turnsOf(store, 's')).toEqual(['a', 'b', 'c']);
      expect(await store.append('s', 3, [started('d')])).toMatchObject([{ seq: 4 }]);
    },
  );

  it('says that the database is away, once, and goes on by itself', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url, { timeouts: IMPATIENT });
    const { store, log } = service;
    await store.append('s', 0, [started('a')]);
    await link.sever();
    await expect(store.append('s', 1, [started('b')])).rejects.toThrow(StorageAwayError);
    const unsent = await store.append('s', 1, [started('b')]).catch((error: unknown) => error);
    expect(unsent).toBeInstanceOf(StorageAwayError);
    expect(unsent).toMatchObject({ mayBeStored: false, isReading: false });
    await expect(store.read('s', 0)).rejects.toMatchObject({
      message: expect.stringMatching(/cannot read PostgreSQL at 127\.0\.0\.1:\d+\/postgres, schema/),
      isReading: true,
    });
    await expect(store.probe()).rejects.toThrow(StorageAwayError);
    await link.restore();
    expect(await store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
    expect(await turnsOf(store, 's')).toEqual(['a', 'b']);
    const said = log.lines.map(({ message }) => message).filter((message) => /reached/.test(message));
    expect(said).toEqual(['PostgreSQL cannot be reached', 'PostgreSQL can be reached again']);
  });

  it('does not wait for ever for a database that says nothing, and stores nothing twice', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url, { timeouts: IMPATIENT });
    const { store } = service;
    await store.append('s', 0, [started('a')]);
    link.mute();
    const unheard = await store.append('s', 1, [started('b')]).catch((error: unknown) => error);
    expect(unheard).toBeInstanceOf(StorageAwayError);
    expect(unheard).toMatchObject({ mayBeStored: true });
    await expect(store.fork('s', 1, 'fork')).rejects.toThrow(StorageAwayError);
    await expect(store.read('s', 0)).rejects.toThrow(StorageAwayError);
    link.unmute();
    // What was sent arrives late. The session is loaded again, as the service does.
    const known = await turnsOf(store, 's');
    expect([['a'], ['a', 'b']]).toContainEqual(known);
    await store.append('s', known.length, [started('c')]).catch((error: unknown) => {
      expect(error).toBeInstanceOf(StaleVersionError);
    });
    const turns = await turnsOf(store, 's');
    expect(turns.filter((turn) => turn === 'b').length).toBeLessThanOrEqual(1);
  });

  it('refuses what comes while ten thousand appends wait already', async () => {
    const { link, url } = await linked();
    await using _ = link;
    await using service = await open(url, { timeouts: IMPATIENT });
    const { store } = service;
    link.mute();
    const waiting = Array.from({ length: 10_000 }, (_, index) =>
      store.append(`s${index}`, 0, [started('a')]),
    );
    await expect(store.append('late', 0, [started('a')])).rejects.toThrow('10000 appends wait');
    link.unmute();
    await Promise.allSettled(waiting);
    await store.append('late', 0, [started('b')]);
    expect(await turnsOf(store, 'late')).toEqual(['b']);
  });

  it('is stored with transactions that are serializable, and appends that race each other', async () => {
    const url = server.newUrl();
    const role = new URL(url).searchParams.get('schema');
    await sql(
      url,
      `CREATE ROLE ${role} SUPERUSER LOGIN; ALTER ROLE ${role} SET default_transaction_isolation = serializable`,
    );
    await using service = await open(url.replace('tester@', `${role}@`));
    const { store } = service;
    const racing = Array.from({ length: 40 }, (_, index) => [
      store.append('s', 0, [started(`r${index}`)]),
      store.append(`own${index}`, 0, [started('x')]),
      store.fork('origin', 1, `fork${index % 4}`).catch(() => undefined),
    ]).flat();
    const settled = await Promise.allSettled(racing);
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(39);
    expect(await turnsOf(store, 's')).toHaveLength(1);
    expect(await store.sessions()).toHaveLength(41);
  });

  it('outlives a restart of the database, without an error to anybody', async () => {
    await using own = await PostgresServer.start();
    await using service = await open(own.newUrl());
    const { store } = service;
    for (let seq = 0; seq < 20; seq += 1) {
      const appending = store.append('s', seq, [started(`t${seq}`)]);
      if (seq % 5 === 2) {
        await own.end(seq === 2 ? 'SIGINT' : 'SIGQUIT');
        await own.run();
      }
      await appending;
    }
    expect(await turnsOf(store, 's')).toHaveLength(20);
  });
});

it('a database that is closed says so to those who go on asking it', async () => {
  const address = parseStoreUrl(server.newUrl());
  const database = await Database.open(address, recordingLog());
  const ask = () => database.insist(READING, () => database.rows({ text: 'SELECT 1' }));
  expect(await ask()).toHaveLength(1);
  await database[Symbol.asyncDispose]();
  await expect(ask()).rejects.toBeInstanceOf(StoreClosedError);
});

describe('two services on one PostgreSQL database', () => {
  it('the second is refused while the first renews its lease, with its name', async () => {
    const url = server.newUrl();
    await using first = await open(url, { name: 'pod-1', leaseTimes: SHORT });
    await expect(open(url, { name: 'pod-2', leaseTimes: SHORT })).rejects.toThrow(
      /is in use by another agent-service \(pod-1\).*stop the other one/,
    );
    await first.store.append('s', 0, [started('a')]);
  });

  it('the second follows at once when the first has stopped', async () => {
    const url = server.newUrl();
    await (await open(url))[Symbol.asyncDispose]();
    await using second = await open(url);
    await second.store.append('s', 0, [started('a')]);
  });

  it('the second follows when the lease of the first has ended, which then can store nothing', async () => {
    const url = server.newUrl();
    await using first = await open(url, { name: 'paused', leaseTimes: { leaseMs: 200, renewMs: 600_000 } });
    await first.store.append('s', 0, [started('a')]);
    await using second = await open(url, { leaseTimes: SHORT });
    const { store } = first;
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => store.append('s', 1, [started('late')]),
      () => store.append('new', 0, [started('late')]),
      () =>
        Promise.all([store.append('two', 0, [started('late')]), store.append('two', 1, [started('late')])]),
      () => store.fork('s', 1, 'fork'),
      () => store.adopt('adopted', elsewhere(['late'])),
      () => store.erase('s'),
      () => store.probe(),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow('has taken over the log');
    expect((await first.lost).message).toContain('was paused');
    expect((await second.store.sessions()).map(({ sessionId }) => sessionId)).toEqual(['s']);
    expect(await second.store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
    expect(await turnsOf(second.store, 's')).toEqual(['a', 'b']);
  });

  it('of several that start at once on an empty database, one makes the tables and has the log', async () => {
    const url = server.newUrl();
    const opened = await Promise.allSettled(
      Array.from({ length: 4 }, (_, pod) => open(url, { name: `pod-${pod}`, leaseTimes: SHORT })),
    );
    const [winner, ...others] = opened.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    expect(others).toEqual([]);
    await winner?.store.append('s', 0, [started('a')]);
    await winner?.[Symbol.asyncDispose]();
  });
});

describe('the tables in PostgreSQL', () => {
  it('are refused if a later release has made them, and are left as they are', async () => {
    const url = server.newUrl();
    await (await open(url))[Symbol.asyncDispose]();
    await sql(url, 'UPDATE @.format SET version = 99');
    await expect(open(url)).rejects.toThrow(
      /of version 99, and this agent-service knows 2: run the newer one/,
    );
    expect(await sql(url, 'SELECT version FROM @.format')).toEqual([{ version: 99 }]);
  });

  it.each([
    [
      'a changed event',
      "UPDATE @.events SET data = replace(data, 'b', 'x') WHERE seq = 2",
      /seq 2 .*checksum/,
    ],
    ['a changed time', 'UPDATE @.events SET time = time + 1 WHERE seq = 2', /seq 2 .*checksum/],
    ['a missing event', 'DELETE FROM @.events WHERE seq = 2', /seq 2 .*found seq 3 in its place/],
    ['a missing last event', 'DELETE FROM @.events WHERE seq = 3', /seq 3 .*it is missing/],
    ['a head that is too low', 'UPDATE @.streams SET head = 2', /seq 2 .*not the last event/],
    ['a head that is too high', 'UPDATE @.streams SET head = 4', /seq 4 .*it is missing/],
  ])('are read with an error that says what is damaged: %s', async (_, damage, message) => {
    const url = server.newUrl();
    await using service = await open(url);
    await service.store.append('s', 0, [started('a'), started('b'), started('c')]);
    await sql(url, damage);
    await expect(service.store.read('s', 0)).rejects.toThrow(message);
    await expect(service.store.read('s', 0)).rejects.toThrow('restore a backup');
  });

  it('go on where a role may use a schema, but make none', async () => {
    const url = server.newUrl();
    const role = new URL(url).searchParams.get('schema');
    await sql(url, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA @ AUTHORIZATION ${role}`);
    await using service = await open(url.replace('tester@', `${role}@`));
    await service.store.append('s', 0, [started('a')]);
  });

  it('are not used where PostgreSQL would lose what it has confirmed', async () => {
    const url = server.newUrl();
    const role = new URL(url).searchParams.get('schema');
    await sql(url, `CREATE ROLE ${role} SUPERUSER LOGIN; ALTER ROLE ${role} SET synchronous_commit = off`);
    await expect(open(url.replace('tester@', `${role}@`))).rejects.toThrow(/synchronous_commit = off/);
  });
});

it('TLS is used as the address says, and a certificate that cannot be verified is refused', async () => {
  await using own = await PostgresServer.start({ tls: true });
  const url = own.newUrl();
  const verified = `${url}&sslmode=verify-full&sslrootcert=${encodeURIComponent(own.certificate)}`;
  await using service = await open(verified);
  await service.store.append('s', 0, [started('a')]);
  const [encrypted] = await sql(
    url,
    "SELECT count(*)::int AS clients FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'agent-service' AND ssl",
  );
  expect(encrypted?.clients).toBeGreaterThan(0);
  await expect(open(`${url}&sslmode=verify-full`)).rejects.toThrow(/self-signed certificate/);
});

it('an append to a stream that somebody has erased and begun again is refused or linked anew', async () => {
  const url = server.newUrl();
  await using service = await open(url);
  const { store } = service;
  await store.append('s', 0, [started('a')]);
  // Behind the back of the service, which remembers how the stream ended.
  await sql(url, "DELETE FROM @.events; UPDATE @.streams SET hash = 'other'");
  await sql(url, "INSERT INTO @.events SELECT 's', 1, 5, 'turn.started', '{}', 'other'");
  await store.append('s', 1, [started('b')]);
  const rows = await sql(url, 'SELECT seq, hash FROM @.events ORDER BY seq');
  expect(rows).toMatchObject([{ seq: 1, hash: 'other' }, { seq: 2 }]);
  await expect(store.append('s', 1, [started('c')])).rejects.toThrow(StaleVersionError);
});

describe('a database that refuses', () => {
  /** A service whose role is changed by `alter`, with connections that are made after the change. */
  async function openAs(alter: string) {
    const url = server.newUrl();
    const role = new URL(url).searchParams.get('schema') ?? '';
    await sql(url, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA @ AUTHORIZATION ${role}`);
    const service = await open(url.replace('tester@', `${role}@`), { timeouts: IMPATIENT });
    const change = (how: string) =>
      sql(
        url,
        `ALTER ROLE ${role} ${how}; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
      );
    await service.store.append('s', 0, [started('a')]);
    await change(alter);
    // Whoever asks first finds that the connection is gone.
    await service.store.read('s', 0).catch(() => undefined);
    const said = () =>
      service.log.lines.map(({ message }) => message).filter((line) => line.includes('be reached'));
    return { ...service, role, change, said };
  }

  const refused = expect.objectContaining({ name: 'StorageAwayError', mayBeStored: false });

  it('writes has stored nothing for certain, and is said to be away once', async () => {
    await using service = await openAs('SET default_transaction_read_only = on');
    const { store, said } = service;
    for (const turnId of ['b', 'c']) {
      await expect(store.append('s', 1, [started(turnId)])).rejects.toEqual(refused);
      expect(await turnsOf(store, 's')).toEqual(['a']);
    }
    expect(said()).toEqual(['PostgreSQL cannot be reached']);
    await service.change('RESET default_transaction_read_only');
    await store.read('s', 0);
    await store.append('s', 1, [started('d')]);
    expect(said()).toEqual(['PostgreSQL cannot be reached', 'PostgreSQL can be reached again']);
  });

  it('its user is away, and back when the user is let in again', async () => {
    await using service = await openAs('NOLOGIN');
    const { store, said } = service;
    await expect(store.read('s', 0)).rejects.toThrow(/is not permitted to log in/);
    await expect(store.append('s', 1, [started('b')])).rejects.toEqual(refused);
    expect(said()).toEqual(['PostgreSQL cannot be reached']);
    await service.change('LOGIN');
    await store.append('s', 1, [started('c')]);
    expect(await turnsOf(store, 's')).toEqual(['a', 'c']);
  });

  it('to wait for a lock is asked again', async () => {
    await using service = await openAs("SET lock_timeout = '20ms'");
    const { role } = service;
    const locking = new pg.Client({ connectionString: server.urlOf(role) });
    await locking.connect();
    await locking.query(`BEGIN; LOCK TABLE ${role}.streams IN ACCESS EXCLUSIVE MODE`);
    const appended = service.store.append('s', 1, [started('b')]);
    await eventually(
      async () =>
        (await locking.query('SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted')).rows,
      ([{ waiting }]) => waiting > 0,
    );
    // Longer than the role waits for a lock.
    await locking.query('SELECT pg_sleep(0.06); COMMIT');
    expect(await appended).toMatchObject([{ seq: 2 }]);
    await locking.end();
  });

  it('because of a lock that is held for long is away for those who ask, and says what is in the way', async () => {
    await using service = await openAs("SET lock_timeout = '20ms'");
    const locking = new pg.Client({ connectionString: server.urlOf(service.role) });
    await locking.connect();
    await locking.query(`BEGIN; LOCK TABLE ${service.role}.streams IN ACCESS EXCLUSIVE MODE`);
    service.log.lines.length = 0;
    await expect(service.store.append('s', 1, [started('b')])).rejects.toEqual(refused);
    await locking.end();
    expect(service.log.lines.filter(({ level }) => level !== 'debug')).toEqual([
      {
        level: 'warn',
        fields: {
          database: expect.any(String),
          attempt: 'append to',
          reason: expect.stringContaining('lock timeout'),
        },
        message: expect.stringContaining('in the way'),
      },
    ]);
  });

  it('an idle connection is said once to be lost', async () => {
    const [url, log] = [server.newUrl(), recordingLog()];
    await using database = await Database.open(parseStoreUrl(url), log);
    const [row] = await database.rows({ text: 'SELECT pg_backend_pid() AS pid' });
    await sql(url, `SELECT pg_terminate_backend(${row?.pid})`);
    const said = () => log.lines.flatMap(({ level, message }) => (level === 'debug' ? message : []));
    await expect.poll(() => said().length).toBeGreaterThan(0);
    expect(said()).toEqual(['a connection to PostgreSQL was lost']);
  });

  it('nobody waits for the transaction of a machine that is lost', async () => {
    await using database = await Database.open(parseStoreUrl(server.newUrl()), recordingLog());
    const [row] = await database.transact((session) =>
      session.rows({ text: 'SHOW idle_in_transaction_session_timeout' }),
    );
    expect(row).toEqual({ idle_in_transaction_session_timeout: '1s' });
  });

  it('at the start is named, with its address', async () => {
    const url = server.newUrl().replace('tester@', 'nobody-else@');
    await expect(open(url)).rejects.toThrow(
      `cannot open PostgreSQL at 127.0.0.1:${server.port}/postgres, schema ${new URL(url).searchParams.get('schema')}: role "nobody-else" does not exist; check the address of the store`,
    );
  });
});

it.each([
  ['mysql://x', /like postgres:\/\//],
  ['postgres://u@h/db?schema=a-b', /schema "a-b"/],
  ['postgres://u@h/db?sslmod=verify-full', /no parameter "sslmod"/],
])('the address %s is refused with what is wrong', async (url, message) => {
  await expect(open(url)).rejects.toThrow(message);
});

async function* elsewhere(turnIds: readonly string[]) {
  for (const turnId of turnIds) yield { time: 1, event: started(turnId), mark: { open: false } };
}
