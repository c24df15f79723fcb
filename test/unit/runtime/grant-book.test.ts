import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { GRANTS_STREAM } from '../../../src/core/log/streams.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { GrantBook } from '../../../src/runtime/access/grant-book.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const SESSION = 'default/ada/x';
const BOB = { principal: 'bob', access: 'read' } as const;
const bob = { ...ANYONE, tenant: 'default', principal: 'bob' };

/** Two nodes on one log that has a session. */
async function nodes() {
  const store = memoryEventStore();
  await store.append(SESSION, 0, [{ type: 'turn.started', turnId: 't' }]);
  const open = async () => {
    const watched = new WatchedStore(store);
    const log = recordingLog();
    const book = await GrantBook.load(watched, log);
    let rechecks = 0;
    book.onRevoked(() => {
      rechecks += 1;
    });
    return { store: watched, log, book, rechecks: () => rechecks };
  };
  const logged = async () => (await store.read(GRANTS_STREAM, 0)).map(({ event }) => event.type);
  return { store, one: await open(), other: await open(), logged };
}

describe('the grants of several nodes', () => {
  it('have the same grant once, whoever makes it', async () => {
    const { one, other, logged } = await nodes();
    const made = await Promise.all([one, other].map(({ book }) => book.create(SESSION, BOB, CLIENT)));
    expect(made[0]).toEqual(made[1]);
    expect(await logged()).toEqual(['session.shared']);
  });

  it('have all that are made at the same time', async () => {
    const { one, other } = await nodes();
    const names = Array.from({ length: 10 }, (_, index) => `user${index}`);
    await Promise.all(
      names.map((principal, index) =>
        (index % 2 ? one : other).book.create(SESSION, { principal, access: 'read' }, CLIENT),
      ),
    );
    await Promise.all([one.book.catchUp(), other.book.catchUp()]);
    expect(one.book.list(SESSION)).toEqual(other.book.list(SESSION));
    expect(one.book.list(SESSION).map(({ principal }) => principal)).toEqual(expect.arrayContaining(names));
  });

  it('are known to the others when they catch up, and so is their end, which listeners hear', async () => {
    const { one, other } = await nodes();
    const grant = await one.book.create(SESSION, BOB, CLIENT);
    expect(other.book.accessOf(SESSION, bob).size).toBe(0);
    await other.book.catchUp();
    expect(other.book.accessOf(SESSION, bob)).toEqual(new Set(['read']));
    expect(other.book.list(SESSION)).toEqual([grant]);
    await one.book.revoke(SESSION, grant.grantId, CLIENT);
    expect([one.rechecks(), other.rechecks()]).toEqual([1, 0]);
    await other.book.catchUp();
    expect([one.rechecks(), other.rechecks()]).toEqual([1, 1]);
    expect(other.book.sharedWith(bob, 'read')).toBeUndefined();
  });

  it('can be revoked by a node that has not heard of them, and once', async () => {
    const { one, other, logged } = await nodes();
    const { grantId } = await one.book.create(SESSION, BOB, CLIENT);
    const revoked = await Promise.allSettled(
      [other, one].map(({ book }) => book.revoke(SESSION, grantId, CLIENT)),
    );
    expect(revoked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(revoked.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'GRANT_NOT_FOUND' },
    });
    expect(await logged()).toEqual(['session.shared', 'grant.revoked']);
    expect([one.rechecks(), other.rechecks()]).toEqual([1, 1]);
  });

  it('end with their session, also those that another node has made', async () => {
    const { one, other, logged } = await nodes();
    await one.book.create(SESSION, BOB, CLIENT);
    await one.book.create(SESSION, { role: 'reader', access: 'read' }, CLIENT);
    await Promise.all([one.book.endAll(SESSION), other.book.endAll(SESSION)]);
    expect(await logged()).toEqual(['session.shared', 'session.shared', 'grant.revoked', 'grant.revoked']);
    expect([one.book.list(SESSION), other.book.list(SESSION)]).toEqual([[], []]);
  });

  it('count no more at once when their session is deleted, whether or not the log can be told', async () => {
    const { one, logged } = await nodes();
    await one.book.create(SESSION, BOB, CLIENT);
    one.store.refuseNext('grant.revoked', new Error('disk full'));
    const ended = one.book.endAll(SESSION);
    expect([one.book.list(SESSION), one.rechecks()]).toEqual([[], 1]);
    await expect(ended).rejects.toThrow('disk full');
    expect(one.book.accessOf(SESSION, bob).size).toBe(0);
    await one.book.endAll(SESSION);
    expect(await logged()).toEqual(['session.shared', 'grant.revoked']);
    expect(one.rechecks()).toBe(1);
  });

  it('of the next session of the name are others', async () => {
    const { one } = await nodes();
    await one.book.create(SESSION, BOB, CLIENT);
    await one.book.endAll(SESSION);
    const grant = await one.book.create(SESSION, BOB, CLIENT);
    expect(one.book.list(SESSION)).toEqual([grant]);
    expect(one.book.accessOf(SESSION, bob)).toEqual(new Set(['read']));
  });

  it('are refused for a session that is erased meanwhile', async () => {
    const { store, one, logged } = await nodes();
    const held = one.book.catchUp();
    const created = one.book.create(SESSION, BOB, CLIENT);
    await Promise.all([store.erase(SESSION), held]);
    await expect(created).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await logged()).toEqual([]);
  });

  it('end at a start if their session is gone', async () => {
    const { store, one, logged } = await nodes();
    await one.book.create(SESSION, BOB, CLIENT);
    await store.erase(SESSION);
    expect((await GrantBook.load(store, recordingLog())).list(SESSION)).toEqual([]);
    expect(await logged()).toEqual(['session.shared', 'grant.revoked']);
  });

  it('end at a start if they are older than the session that they name', async () => {
    const time = { now: 1_000 };
    const store = new WatchedStore(memoryEventStore(() => time.now));
    const begin = () => store.append(SESSION, 0, [{ type: 'turn.started', turnId: 't' }]);
    await begin();
    const before = await GrantBook.load(store, recordingLog());
    await before.create(SESSION, BOB, CLIENT);
    expect((await GrantBook.load(store, recordingLog())).list(SESSION)).toHaveLength(1);
    await store.erase(SESSION);
    time.now += 1;
    await begin();
    store.refuseNext('grant.revoked', new Error('disk full'));
    const log = recordingLog();
    const after = await GrantBook.load(store, log);
    expect(after.accessOf(SESSION, bob).size).toBe(0);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { sessionId: SESSION } }]);
    const grant = await after.create(SESSION, BOB, CLIENT);
    expect((await GrantBook.load(store, recordingLog())).list(SESSION)).toEqual([grant]);
  });
});

describe('the grants of nodes whose clocks differ', () => {
  /** A session that was begun by a node whose clock goes a minute before that of the node which now writes the log. */
  async function begun() {
    const time = { now: 61_000 };
    const store = memoryEventStore(() => time.now);
    const begin = () => store.append(SESSION, 0, [{ type: 'turn.started', turnId: 't' }]);
    await begin();
    time.now = 1_500;
    const load = () => GrantBook.load(store, recordingLog());
    const logged = async () => (await store.read(GRANTS_STREAM, 0)).map(({ event }) => event);
    return { time, store, begin, load, logged };
  }

  it('are there after a start although they look older than their session, and end with it', async () => {
    const { time, store, begin, load, logged } = await begun();
    const grant = await (await load()).create(SESSION, BOB, CLIENT);
    expect(grant).not.toHaveProperty('began');
    expect((await load()).list(SESSION)).toEqual([grant]);
    expect(await logged()).toMatchObject([{ type: 'session.shared', began: 61_000 }]);
    await store.erase(SESSION);
    time.now = 61_001;
    await begin();
    expect((await load()).list(SESSION)).toEqual([]);
    expect((await logged()).map(({ type }) => type)).toEqual(['session.shared', 'grant.revoked']);
  });

  it('of earlier releases are there, too, and end if clocks cannot differ so much', async () => {
    const { time, store, begin, load, logged } = await begun();
    const event = { type: 'session.shared', grantId: 'g', sessionId: SESSION, ...BOB } as const;
    await store.append(GRANTS_STREAM, 0, [event]);
    expect((await load()).list(SESSION)).toMatchObject([{ grantId: 'g' }]);
    expect(await logged()).toEqual([event]);
    await store.erase(SESSION);
    time.now += 301_000;
    await begin();
    expect((await load()).list(SESSION)).toEqual([]);
    expect((await logged()).map(({ type }) => type)).toEqual(['session.shared', 'grant.revoked']);
  });
});
