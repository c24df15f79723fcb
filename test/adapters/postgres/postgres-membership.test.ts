import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Database, type DatabaseTimeouts } from '../../../src/adapters/postgres/database.ts';
import type { LeaseTimes } from '../../../src/adapters/postgres/node-lease.ts';
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts';
import { parseStoreUrl } from '../../../src/config/addresses/store-url.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { FencedError } from '../../../src/core/log/fenced.ts';
import { StaleVersionError } from '../../../src/ports/event-store.ts';
import { type Membership, SessionElsewhereError, type StreamPlace } from '../../../src/ports/membership.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { schemaOf, sql } from '../../support/postgres/sql.ts';
import { eventually } from '../../support/project/eventually.ts';
import { SeverableLink } from '../../support/sockets/severable-link.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/** How long a lease lasts, unless a test says otherwise. */
const LEASE_MS = 2_000;
/** Only what the test does renews a lease. */
const QUIET: LeaseTimes = { leaseMs: 600_000, renewMs: 300_000, graceMs: 0 };
/** A lease that ends soon and is not renewed. */
const BRIEF: LeaseTimes = { leaseMs: 50, renewMs: 300_000 };
const LIVELY: LeaseTimes = { leaseMs: 1_000, renewMs: 100 };

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const started = (turnId: string): SessionEvent => ({ type: 'turn.started', turnId });
const OPEN = { open: true };
/** Which streams a node knows that has none in memory. */
const NONE = () => false;

/** A service on the log, which shares it unless it says that it does not. */
async function join(
  url: string,
  {
    name = 'a node',
    leaseTimes = QUIET,
    shares = true,
    timeouts = undefined as DatabaseTimeouts | undefined,
  } = {},
) {
  const identity = { name, version: '1' };
  const options = { log: recordingLog(), leaseTimes, shares, ...(timeouts && { timeouts }) };
  const opened = await openPostgres(url, { identity, ...options });
  const { store } = opened;
  const membership = opened.membership as Membership;
  return { ...opened, membership, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** Two nodes of one cluster. */
async function pair() {
  const url = server.newUrl();
  const one = await join(url, { name: 'one' });
  const other = await join(url, { name: 'other' });
  await one.membership.refresh();
  const close = async (): Promise<void> => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { url, one, other, [Symbol.asyncDispose]: close };
}

type Node = Awaited<ReturnType<typeof join>>;

/** The node begins the stream, and owns it. */
async function begin({ membership, store }: Node, stream: string, mark = OPEN): Promise<void> {
  membership.presumeNew(stream);
  await store.append(stream, 0, [started('t1')], mark);
}

/** A node that has begun these streams, and whose lease has ended. */
async function zombie(url: string, ...streams: string[]): Promise<Node> {
  const node = await join(url, { name: 'zombie', leaseTimes: BRIEF });
  for (const stream of streams) await begin(node, stream);
  return node;
}

/** Somebody else who has locked something, until `release`. */
async function lock(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const run = (statement: string) => client.query(statement.replaceAll('@', schemaOf(url)));
  await run(`BEGIN; ${text}`);
  let isOver = false;
  const release = async (last = 'SELECT'): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await run(`${last}; COMMIT`);
    await client.end();
  };
  const waiting = async () => (await run('SELECT FROM pg_locks WHERE NOT granted')).rowCount;
  /** Resolves when somebody waits for the lock. */
  const isAwaited = () => expect.poll(waiting).toBeGreaterThan(0);
  return { release, isAwaited, [Symbol.asyncDispose]: release };
}

/** Renews the lease of one node until the other is gone for it. */
async function outlive(node: Node, other: Node): Promise<void> {
  await expect
    .poll(async () => {
      await node.membership.refresh();
      return node.membership.living.has(other.membership.self);
    })
    .toBe(false);
}

describe('nodes that share a log', () => {
  it('know each other, and what each tells of itself', async () => {
    await using nodes = await pair();
    const { one, other } = nodes;
    const report = { address: 'host:1', isDraining: true, load: { sessions: 3, turns: 2, waiting: 1 } };
    one.membership.report(report);
    let renewals = 0;
    const stop = other.membership.onRenewed(() => {
      renewals += 1;
    });
    await one.membership.refresh();
    await other.membership.refresh();
    expect(renewals).toBe(1);
    stop();
    await other.membership.refresh();
    expect(renewals).toBe(1);
    expect([...other.membership.living.keys()]).toEqual([one.membership.self, other.membership.self]);
    expect(other.membership.living.get(one.membership.self)).toMatchObject({
      ...report,
      nodeId: one.membership.self,
      name: 'one',
      version: '1',
    });
    expect(one.membership.cluster).toBe(other.membership.cluster);
    expect(one.membership.cluster).toMatch(/^[\w-]+$/);
    expect(one.membership.isHeld && other.membership.isHeld).toBe(true);
  });

  it('of another log are of another cluster', async () => {
    await using one = await join(server.newUrl());
    await using other = await join(server.newUrl());
    expect(one.membership.cluster).not.toBe(other.membership.cluster);
  });

  it('refuse a service without a bus, and the other way round, and both messages say why', async () => {
    const url = server.newUrl();
    const soon = { leaseMs: 100, renewMs: 50 };
    await using _ = await join(url, { name: 'sharing' });
    await expect(join(url, { shares: false, leaseTimes: soon })).rejects.toThrow(
      /services that share it \(sharing is one\).*without --bus/,
    );
    const alone = server.newUrl();
    await using __ = await join(alone, { name: 'alone', shares: false });
    await expect(join(alone, { leaseTimes: soon })).rejects.toThrow(/without --bus \(alone\)/);
  });
});

describe('the lease of a node', () => {
  it('is renewed however many readers wait for the database', async () => {
    const url = server.newUrl();
    await using node = await join(url);
    await using locked = await lock(url, 'LOCK TABLE @.streams IN ACCESS EXCLUSIVE MODE');
    const reads = Array.from({ length: 20 }, () => node.store.read('s', 0));
    let renewals = 0;
    node.membership.onRenewed(() => {
      renewals += 1;
    });
    await node.membership.refresh();
    expect(renewals).toBe(1);
    await locked.release();
    expect((await Promise.all(reads)).flat()).toEqual([]);
  });

  it('is renewed over another connection when one says nothing any more', async () => {
    const url = server.newUrl();
    await using link = await SeverableLink.to(server.port);
    const leaseTimes = { leaseMs: 3_000, renewMs: 300 };
    await using _ = await join(url, { name: 'other', leaseTimes });
    await using node = await join(url.replace(`:${server.port}`, `:${link.port}`), { leaseTimes });
    const renewed = Promise.withResolvers<string>();
    link.muteOpen();
    node.membership.onRenewed(() => renewed.resolve('renewed'));
    expect(await Promise.race([renewed.promise, node.lost])).toBe('renewed');
    expect(node.membership.isHeld).toBe(true);
  });

  it('is not waited for as long as it lasts when its new connection says nothing', async () => {
    const url = server.newUrl();
    await using link = await SeverableLink.to(server.port);
    const address = parseStoreUrl(url.replace(`:${server.port}`, `:${link.port}`));
    await using database = await Database.open(address, recordingLog());
    link.mute();
    const begun = performance.now();
    await expect(database.leaseRows({ text: 'SELECT' }, LEASE_MS)).rejects.toThrow('connection timeout');
    expect(performance.now() - begun).toBeLessThan(LEASE_MS);
    link.unmute();
  });

  it('is held for those who hear that it was renewed, also after it had ended', async () => {
    await using node = await join(server.newUrl(), { leaseTimes: BRIEF });
    await expect.poll(() => node.membership.isHeld).toBe(false);
    const heard: boolean[] = [];
    node.membership.onRenewed(() => heard.push(node.membership.isHeld));
    await node.membership.refresh();
    expect(heard).toEqual([true]);
  });

  it('is not held after the machine was suspended, when the steady clock stood still', async () => {
    await using node = await join(server.newUrl());
    const wokenAt = Date.now() + QUIET.leaseMs + 1;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(wokenAt);
    onTestFinished(() => clock.mockRestore());
    expect(node.membership.isHeld).toBe(false);
    await node.membership.refresh();
    expect(node.membership.isHeld).toBe(true);
  });

  it('is renewed once at a time, and whoever asks meanwhile hears what is true after that', async () => {
    const url = server.newUrl();
    await using node = await join(url);
    let renewals = 0;
    node.membership.onRenewed(() => {
      renewals += 1;
    });
    await using locked = await lock(url, 'LOCK TABLE @.nodes IN ACCESS EXCLUSIVE MODE');
    const first = node.membership.refresh();
    await locked.isAwaited();
    const later = [node.membership.refresh(), node.membership.refresh()];
    await locked.release(
      `INSERT INTO @.nodes (name, version, lease_end, shares) VALUES ('new', '1', now() + interval '1 h', true)`,
    );
    await Promise.all([first, ...later]);
    expect(renewals).toBe(2);
    expect([...node.membership.living.values()].map(({ name }) => name)).toContain('new');
  });

  it('has no timer when the service has stopped, although two have asked for it at once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { store, membership } = await join(server.newUrl());
    await Promise.all([membership.refresh(), membership.refresh()]);
    const last = [membership.refresh(), membership.refresh()];
    await store[Symbol.asyncDispose]();
    await Promise.all(last);
    await membership.refresh();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives the others time after an outage, also where a renewal was on its way all the while', async () => {
    const url = server.newUrl();
    await using link = await SeverableLink.to(server.port);
    const leaseTimes = { leaseMs: 4_000, renewMs: 100, graceMs: 300 };
    await using node = await join(url.replace(`:${server.port}`, `:${link.port}`), { leaseTimes });
    await using other = await join(url, { name: 'other' });
    const { membership } = node;
    const begun = performance.now();
    await expect.poll(() => membership.living.size === 2 && performance.now() - begun > 500).toBe(true);
    link.mute();
    const muted = performance.now();
    await sql(
      url,
      `UPDATE @.nodes SET lease_end = clock_timestamp() - interval '1 s' WHERE node = ${other.membership.self}`,
    );
    // Longer than two renewals take.
    await expect.poll(() => performance.now() - muted > 400).toBe(true);
    const seen = Promise.withResolvers<boolean>();
    membership.onRenewed(() => seen.resolve(membership.living.has(other.membership.self)));
    link.unmute();
    expect(await seen.promise).toBe(true);
    await expect.poll(() => membership.living.has(other.membership.self)).toBe(false);
  });
});

it('a node that tells of itself what others cannot read costs them nothing', async () => {
  await using nodes = await pair();
  const { url, one, other } = nodes;
  await sql(url, `UPDATE @.nodes SET report = '{"load": "much"}' WHERE node = ${other.membership.self}`);
  await one.membership.refresh();
  expect(one.membership.isHeld).toBe(true);
  expect(one.membership.living.get(other.membership.self)).toMatchObject({ load: { sessions: 0 } });
});

describe('a session', () => {
  it('that is given up while an append to it waits gets the append no more', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    await begin(one, 's');
    await using locked = await lock(url, "SELECT FROM @.streams WHERE stream = 's' FOR UPDATE");
    const appended = one.store.append('s', 1, [started('late')]).catch((error: unknown) => error);
    await locked.isAwaited();
    one.membership.forget('s');
    await locked.release(
      `UPDATE @.streams SET owner = ${other.membership.self}, epoch = epoch + 1 WHERE stream = 's'`,
    );
    expect(await appended).toBeInstanceOf(StaleVersionError);
    expect(await other.store.read('s', 1)).toEqual([]);
  });

  it('that is erased while it is forked leaves no fork', async () => {
    await using nodes = await pair();
    const { url, one } = nodes;
    one.membership.presumeNew('from');
    await one.store.append(
      'from',
      0,
      Array.from({ length: 600 }, (_, index) => started(`t${index}`)),
    );
    await using locked = await lock(url, 'LOCK TABLE @.events IN ACCESS EXCLUSIVE MODE');
    const forked = one.store.fork('from', 600, 'to').catch((error: unknown) => error);
    await locked.isAwaited();
    await locked.release(
      "DELETE FROM @.streams WHERE stream = 'from'; DELETE FROM @.events WHERE stream = 'from'",
    );
    expect(await forked).toBeInstanceOf(Error);
    expect(await one.store.sessions({ sessionId: 'to' })).toEqual([]);
  });

  it('that gets an append while it is erased leaves nothing of it to the next one of its id', async () => {
    const url = server.newUrl();
    await using node = await join(url);
    const { store } = node;
    // Nobody owns it.
    await store.append('s', 0, [started('t1')]);
    await using locked = await lock(url, "SELECT FROM @.streams WHERE stream = 's' FOR UPDATE");
    const erased = store.erase('s');
    await locked.isAwaited();
    await locked.release(
      `UPDATE @.streams SET head = 2 WHERE stream = 's';
       INSERT INTO @.events SELECT 's', 2, 5, 'turn.started', '{}', 'of another node'`,
    );
    await erased;
    expect(await sql(url, 'SELECT stream, seq FROM @.events')).toEqual([]);
    await store.append('s', 0, [started('t2'), started('t3')]);
    expect(await store.read('s', 0)).toHaveLength(2);
  });

  it('that another node has begun is not erased with the one that had its id', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    await begin(one, 's');
    await using locked = await lock(url, "SELECT FROM @.streams WHERE stream = 's' FOR UPDATE");
    const erased = one.store.erase('s');
    await locked.isAwaited();
    // As if an earlier try had erased it, and its answer had been lost.
    await locked.release(`UPDATE @.streams SET owner = ${other.membership.self} WHERE stream = 's'`);
    await erased;
    expect(await other.store.read('s', 0)).toHaveLength(1);
  });

  it('has nothing after a seq that no session has', async () => {
    await using node = await join(server.newUrl());
    await begin(node, 's');
    expect(await node.store.read('s', 3_000_000_000)).toEqual([]);
  });

  it('belongs to the node that began it, until that one gives it up', async () => {
    await using nodes = await pair();
    const { one, other } = nodes;
    await begin(one, 's');
    const refused: unknown = await other.membership.claim('s').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SessionElsewhereError);
    expect(refused).toMatchObject({ owner: one.membership.self });
    expect(other.membership.owns('s')).toBe(false);
    // It stays the owner also when the session leaves its memory.
    one.membership.forget('s');
    expect(one.membership.owns('s')).toBe(false);
    await expect(other.membership.claim('s')).rejects.toThrow(SessionElsewhereError);
    await one.membership.claim('s');
    expect(one.membership.owns('s')).toBe(true);
    await one.membership.release(['s']);
    expect(one.membership.owns('s')).toBe(false);
    await other.membership.claim('s');
    await other.store.append('s', 1, [started('t2')]);
    await expect(one.membership.claim('s')).rejects.toMatchObject({ owner: other.membership.self });
  });

  it('that does not exist is presumed to be new when it is claimed', async () => {
    await using nodes = await pair();
    await nodes.one.membership.claim('s');
    expect(nodes.one.membership.owns('s')).toBe(true);
    expect(await nodes.other.membership.places(['s'])).toEqual(new Map());
    await nodes.one.store.append('s', 0, [started('t1')]);
    await expect(nodes.other.membership.claim('s')).rejects.toThrow(SessionElsewhereError);
  });

  it('that two nodes begin at once belongs to one of them, and the other stores nothing', async () => {
    await using nodes = await pair();
    const both = [nodes.one, nodes.other];
    for (let round = 0; round < 10; round += 1) {
      const stream = `s${round}`;
      const outcomes = await Promise.allSettled(both.map((node) => begin(node, stream)));
      const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(lost).toHaveLength(1);
      expect(lost[0]).toBeInstanceOf(StaleVersionError);
      const winner = both[outcomes.findIndex(({ status }) => status === 'fulfilled')];
      const [place] = (await nodes.one.membership.places([stream])).values();
      expect(place).toMatchObject({ owner: winner?.membership.self, head: 1 });
    }
  });

  it('that two nodes claim at once belongs to one of them', async () => {
    await using nodes = await pair();
    const both = [nodes.one, nodes.other];
    await begin(nodes.one, 's');
    // With what PostgreSQL knows of the tables after a while, it plans the same statement otherwise.
    await sql(nodes.url, 'ANALYZE @.streams, @.nodes');
    for (let round = 0; round < 30; round += 1) {
      for (const { membership } of both) await membership.release(['s']);
      const outcomes = await Promise.allSettled(both.map(({ membership }) => membership.claim('s')));
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('that its owner gives up while another node asks who has it costs that node nothing', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    await begin(one, 's');
    // The release comes right after the claim that has found an owner.
    await sql(
      url,
      `CREATE FUNCTION @.give_up() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF pg_trigger_depth() = 1 THEN UPDATE @.streams SET owner = NULL; DROP TRIGGER late ON @.streams; END IF;
         RETURN NULL;
       END $$`.replace(' DROP TRIGGER late ON @.streams;', ''),
    );
    await sql(
      url,
      'CREATE TRIGGER late AFTER UPDATE ON @.streams FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION @.give_up()',
    );
    const claimed: unknown = await other.membership.claim('s').catch((error: unknown) => error);
    expect(claimed).not.toBeInstanceOf(FencedError);
    expect(other.membership.isHeld).toBe(true);
  });

  it('that is forked or deleted can be begun again by any node', async () => {
    await using nodes = await pair();
    const { one, other } = nodes;
    await begin(one, 's');
    await one.store.fork('s', 1, 'fork');
    expect((await one.membership.places(['fork'])).get('fork')).toMatchObject({ owner: null, head: 1 });
    await other.membership.claim('fork');
    await other.store.append('fork', 1, [started('t2')]);
    await one.store.erase('s');
    one.membership.forget('s');
    await begin(other, 's');
    const placeOf = async (): Promise<StreamPlace | undefined> =>
      (await one.membership.places(['s'])).get('s');
    const again = await placeOf();
    const [first] = await one.store.read('s', 0, 1);
    expect(again).toEqual({ owner: other.membership.self, head: 1, began: first?.time });
    await other.store.append('s', 1, [started('t2')]);
    expect(await placeOf()).toEqual({ ...again, head: 2 });
  });

  it('that two nodes fork at once to the same id is refused to one of them as one that there is', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    await begin(one, 's');
    await begin(other, 'theirs');
    await using locked = await lock(
      url,
      `INSERT INTO @.streams SELECT 'fork', head, hash, created, updated, open FROM @.streams WHERE stream = 's'`,
    );
    const forked = other.store.fork('theirs', 1, 'fork').catch((error: unknown) => error);
    await locked.isAwaited();
    await locked.release(
      `INSERT INTO @.events SELECT 'fork', seq, time, type, data, hash FROM @.events WHERE stream = 's'`,
    );
    expect(await forked).toBeInstanceOf(StaleVersionError);
  });

  it('of a fork belongs to the node that has presumed it to be new', async () => {
    await using nodes = await pair();
    const { one, other } = nodes;
    await begin(one, 's');
    one.membership.presumeNew('fork');
    await one.store.fork('s', 1, 'fork');
    await one.store.append('fork', 1, [started('t2')]);
    await expect(other.membership.claim('fork')).rejects.toMatchObject({ owner: one.membership.self });
  });

  it('has a place, if there is one', async () => {
    await using nodes = await pair();
    const { one, other } = nodes;
    for (const stream of ['a', 'b']) await begin(one, stream);
    await one.store.append('b', 1, [started('t2')]);
    await one.membership.release(['a']);
    const places = await other.membership.places(['a', 'b', 'none']);
    expect(places).toEqual(
      new Map([
        ['a', expect.objectContaining({ owner: null, head: 1 })],
        ['b', expect.objectContaining({ owner: one.membership.self, head: 2 })],
      ]),
    );
    expect(await other.membership.places([])).toEqual(new Map());
  });
});

describe('an append by a node', () => {
  it('whose answer is lost counts as stored, although the node has given the session up meanwhile', async () => {
    const url = server.newUrl();
    await using link = await SeverableLink.to(server.port);
    await using node = await join(url.replace(String(server.port), String(link.port)));
    await begin(node, 's');
    // The release comes before the append is tried again.
    await sql(
      url,
      `CREATE FUNCTION @.give_up() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN UPDATE @.streams SET owner = NULL; RETURN NULL; END $$`,
    );
    await sql(
      url,
      'CREATE TRIGGER late AFTER INSERT ON @.events FOR EACH STATEMENT EXECUTE FUNCTION @.give_up()',
    );
    link.cutAfterAnswers(0);
    expect(await node.store.append('s', 1, [started('t2')])).toMatchObject([{ seq: 2 }]);
    expect((await node.membership.places(['s'])).get('s')).toMatchObject({ owner: null, head: 2 });
  });

  it('to a session that has another owner by now is refused, and what came with it is stored', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    await begin(one, 's');
    await begin(one, 'mine');
    // The node does not notice that it has given it up.
    await sql(url, `UPDATE @.streams SET owner = NULL WHERE stream = 's'`);
    await other.membership.claim('s');
    const outcomes = await Promise.allSettled([
      one.store.append('mine', 1, [started('t2')]),
      one.store.append('s', 1, [started('t2')]),
      one.store.append('mine', 2, [started('t3')]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { name: 'StaleVersionError' } });
    expect(await one.store.read('s', 0)).toHaveLength(1);
    // Nothing else is refused to the owner.
    await other.store.append('s', 1, [started('t4')]);
  });

  it('to a session that came back to it, with another one in between, is refused to the old epoch', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    await begin(one, 's');
    await sql(url, `UPDATE @.streams SET owner = NULL WHERE stream = 's'`);
    await other.membership.claim('s');
    await other.membership.release(['s']);
    await sql(url, `UPDATE @.streams SET owner = ${one.membership.self} WHERE stream = 's'`);
    await expect(one.store.append('s', 1, [started('t2')])).rejects.toThrow(StaleVersionError);
    one.membership.forget('s');
    await one.membership.claim('s');
    await one.store.append('s', 1, [started('t2')]);
  });

  it('to a stream that nobody owns is only refused for its version', async () => {
    await using nodes = await pair();
    const { one, other } = nodes;
    await one.store.append('~keys', 0, [started('t1')]);
    await other.store.append('~keys', 1, [started('t2')]);
    await expect(one.store.append('~keys', 1, [started('t3')])).rejects.toThrow(StaleVersionError);
    await one.store.append('~keys', 2, [started('t3')]);
    expect((await one.membership.places(['~keys'])).get('~keys')?.owner).toBeNull();
  });

  it('whose lease another node has seen end is refused, to whatever stream, and it hears why', async () => {
    const url = server.newUrl();
    await using node = await join(url);
    const asleep = await zombie(url, 's');
    await outlive(node, asleep);
    for (const [stream, seq] of [
      ['s', 1],
      ['new', 0],
      ['~keys', 0],
    ] as const)
      await expect(asleep.store.append(stream, seq, [started('t2')])).rejects.toThrow(FencedError);
    expect(await asleep.lost).toBeInstanceOf(FencedError);
    expect(asleep.membership.isHeld).toBe(false);
    expect(await node.store.read('s', 0)).toHaveLength(1);
    expect(await node.store.streamIds('', 10)).toEqual(['s']);
    await asleep.store[Symbol.asyncDispose]();
  });
});

describe('a database that comes back', () => {
  it('leaves the nodes time to renew their leases, and then removes those that did not', async () => {
    const url = server.newUrl();
    // Long enough for what is asked before it is over, on a busy machine.
    const leaseTimes = { ...QUIET, graceMs: 5_000 };
    await using node = await join(url, { leaseTimes });
    const asleep = await zombie(url, 's');
    const other = await join(url, { name: 'other', leaseTimes });
    // Nothing can be told to the database, until all leases have ended.
    await sql(url, `UPDATE @.nodes SET lease_end = clock_timestamp() - interval '1 s'`);
    await node.membership.refresh();
    await other.membership.refresh();
    const both = [node, other].map(({ membership }) => membership.self);
    const removed: number[] = [];
    for (const { membership } of [node, other]) membership.onRemoved((nodes) => removed.push(...nodes));
    expect([...node.membership.living.keys()]).toEqual(expect.arrayContaining([asleep.membership.self]));
    await expect
      .poll(async () => {
        await other.membership.refresh();
        await node.membership.refresh();
        return [...node.membership.living.keys()];
      })
      .toEqual(both.toSorted((one, next) => one - next));
    expect(removed).toEqual([asleep.membership.self]);
    asleep.membership.lose();
    expect(await asleep.lost).toBeInstanceOf(FencedError);
    await asleep.store[Symbol.asyncDispose]();
    await other.store[Symbol.asyncDispose]();
  });
});

describe('a database whose clock is set forward', () => {
  it('costs no node its place: what counts is for how long it was not seen to renew its lease', async () => {
    const url = server.newUrl();
    await using node = await join(url, { leaseTimes: { leaseMs: 3_000, renewMs: 100, graceMs: 2_000 } });
    await using other = await join(url, { name: 'other' });
    const { membership } = node;
    const { self } = other.membership;
    const removed: number[] = [];
    membership.onRemoved((nodes) => removed.push(...nodes));
    // For the database, the lease has ended.
    const end = () =>
      sql(url, `UPDATE @.nodes SET lease_end = clock_timestamp() - interval '1 s' WHERE node = ${self}`);
    const begun = performance.now();
    // Until the node could remove others.
    await expect.poll(() => membership.living.size === 2 && performance.now() - begun > 2_500).toBe(true);
    await end();
    await expect.poll(() => membership.living.get(self)?.leaseMs ?? 0).toBe(0);
    await other.membership.refresh();
    expect(removed).toEqual([]);
    expect(other.membership.isHeld).toBe(true);
    // One that does not renew it again is gone.
    await end();
    await expect.poll(() => removed).toEqual([self]);
  });
});

describe('open turns of a node that is gone', () => {
  it('are shared by those who are there, each by one', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    const streams = Array.from({ length: 30 }, (_, index) => `s${index}`);
    const asleep = await zombie(url, ...streams, '~agent~s');
    await begin(asleep, 'idle', { open: false });
    await begin(one, 'alive');
    await outlive(one, asleep);
    const claimed: string[][] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      const both = await Promise.all(
        [one, other].map(({ membership }) => membership.claimOrphans('', 5, () => true)),
      );
      for (const [index, orphans] of both.entries()) {
        expect(orphans.length).toBeLessThanOrEqual(5);
        claimed[index]?.push(...orphans);
      }
    }
    const known = new Set(['alive', ...claimed.flat()]);
    claimed[0]?.push(...(await one.membership.claimOrphans('', 100, (stream) => known.has(stream))));
    expect(claimed.flat().toSorted()).toEqual(streams.toSorted());
    expect(claimed[1]?.length).toBeGreaterThan(0);
    const [[mine = ''] = []] = claimed;
    await one.store.append(mine, 1, [started('t2')]);
    expect(await other.membership.claimOrphans('~agent~', 100, NONE)).toEqual(['~agent~s']);
    expect(await other.membership.claimOrphans('', 100, (stream) => known.has(stream))).toEqual([]);
    await asleep.store[Symbol.asyncDispose]();
  });

  it('are found again by the node that has claimed them without learning of that', async () => {
    await using nodes = await pair();
    const { url, one, other } = nodes;
    const asleep = await zombie(url, 's1', 's2', 's3', '~agent~s');
    await begin(one, 'in memory');
    await begin(one, 'idle', { open: false });
    await outlive(one, asleep);
    const isKnown = (stream: string): boolean => stream === 'in memory';
    const claimed = await one.membership.claimOrphans('', 10, isKnown);
    for (const stream of claimed) one.membership.forget(stream);
    const again = await one.membership.claimOrphans('', 10, isKnown);
    expect(again.toSorted()).toEqual(['s1', 's2', 's3']);
    expect(again.map((stream) => one.membership.owns(stream))).toEqual([false, false, false]);
    expect(await one.membership.claimOrphans('', 2, isKnown)).toHaveLength(2);
    expect(await other.membership.claimOrphans('', 10, NONE)).toEqual([]);
    // No claim of this node raises the epoch again.
    expect(await sql(url, `SELECT DISTINCT epoch FROM @.streams WHERE stream LIKE 's_'`)).toEqual([
      { epoch: 1 },
    ]);
    await one.membership.claim('s1');
    await one.store.append('s1', 1, [started('t2')]);
    await asleep.store[Symbol.asyncDispose]();
  });

  it('are not claimed by a node that has lost its own lease', async () => {
    const url = server.newUrl();
    await using node = await join(url);
    const asleep = await zombie(url, 's');
    await begin(node, 'free');
    await node.membership.release(['free']);
    await outlive(node, asleep);
    expect(await asleep.membership.claimOrphans('', 10, NONE)).toEqual([]);
    await expect(asleep.membership.claim('free')).rejects.toThrow(FencedError);
    await asleep.store[Symbol.asyncDispose]();
  });

  it('are claimed over another connection when one says nothing any more', async () => {
    const url = server.newUrl();
    await using link = await SeverableLink.to(server.port);
    const timeouts = { connectMs: 10_000, statementMs: 600_000, silenceMs: 1_000, patienceMs: 1_000 };
    await using node = await join(url.replace(`:${server.port}`, `:${link.port}`), { timeouts });
    const stopping = await join(url);
    await begin(stopping, 's');
    await stopping.store[Symbol.asyncDispose]();
    link.muteOpen();
    expect(await node.membership.claimOrphans('', 10, NONE)).toEqual(['s']);
  });

  it('can be claimed at once when it has stopped in order', async () => {
    const url = server.newUrl();
    await using node = await join(url);
    const stopping = await join(url);
    await begin(stopping, 's');
    await stopping.store[Symbol.asyncDispose]();
    expect(await node.membership.claimOrphans('', 10, NONE)).toEqual(['s']);
  });
});

describe('a node whose transaction holds on while it sleeps', () => {
  it('costs the others nothing but its own sessions', async () => {
    const url = server.newUrl();
    await using node = await join(url, { leaseTimes: LIVELY });
    const asleep = await zombie(url, 's');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    const own = `SELECT node FROM ${schemaOf(url)}.nodes WHERE node = ${asleep.membership.self} FOR KEY SHARE`;
    await client.query(own);
    try {
      // Longer than the lease of the node that is awake.
      const until = performance.now() + 2 * LIVELY.leaseMs;
      await expect.poll(() => !node.membership.isHeld || performance.now() > until).toBe(true);
      expect(node.membership.isHeld).toBe(true);
      await node.store.append('other', 0, [started('t1')]);
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
    await asleep.store[Symbol.asyncDispose]();
  });
});

describe('a node that freezes', () => {
  /** A node whose connections can be muted, and which does not give them up then. */
  async function freezable() {
    const url = server.newUrl();
    const link = await SeverableLink.to(server.port);
    const timeouts = { connectMs: 60_000, statementMs: 60_000, silenceMs: 60_000, patienceMs: 0 };
    const node = await join(url.replace(`:${server.port}`, `:${link.port}`), { timeouts });
    const close = async (): Promise<void> => {
      link.unmute();
      await node[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
    };
    return { url, link, node, [Symbol.asyncDispose]: close };
  }

  it('while it is probed leaves nothing locked', async () => {
    await using frozen = await freezable();
    const { url, link, node } = frozen;
    await node.store.probe();
    const probed = async () => (await sql(url, 'SELECT probed::text FROM @.format'))[0]?.probed;
    const before = await probed();
    await using locked = await lock(url, 'SELECT FROM @.format FOR UPDATE');
    const probing = node.store.probe().catch(() => undefined);
    await locked.isAwaited();
    link.mute();
    await locked.release();
    await eventually(probed, (at) => at !== before);
    link.unmute();
    await probing;
  });

  it('at the end of an adoption does not keep the lock of its lease', async () => {
    await using frozen = await freezable();
    const { url, link, node } = frozen;
    const row = `SELECT node FROM @.nodes WHERE node = ${node.membership.self} FOR UPDATE`;
    await using locked = await lock(url, row);
    const events = async function* () {
      yield { time: 1, event: started('t1'), mark: { open: false } };
    };
    const adopting = node.store.adopt('adopted', events()).catch(() => undefined);
    await locked.isAwaited();
    link.mute();
    await locked.release();
    await sql(url, `SET lock_timeout = '20s'; ${row}`);
    link.unmute();
    await adopting;
  });
});

describe('a log of the first version', () => {
  it('keeps its events, and its sessions are nobody’s until they are claimed', async () => {
    const url = server.newUrl();
    await using before = await join(url, { shares: false });
    await before.store.append('s', 0, [started('t1')], OPEN);
    await before.store[Symbol.asyncDispose]();
    await sql(
      url,
      `ALTER TABLE @.streams DROP COLUMN owner, DROP COLUMN epoch;
       ALTER TABLE @.nodes DROP COLUMN shares, DROP COLUMN since, DROP COLUMN report;
       ALTER TABLE @.format DROP COLUMN cluster;
       UPDATE @.format SET version = 1`,
    );
    await using node = await join(url);
    expect(await node.store.read('s', 0)).toMatchObject([{ seq: 1, event: started('t1') }]);
    expect((await node.membership.places(['s'])).get('s')).toMatchObject({ owner: null, head: 1 });
    expect(await node.membership.claimOrphans('', 10, NONE)).toEqual(['s']);
    await node.store.append('s', 1, [started('t2')]);
  });
});
