import { describe, expect, it, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { AuditEntry } from '../../../src/core/access/audit-entry.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { type EventStore, StaleVersionError } from '../../../src/ports/event-store.ts';
import { AuditTrail } from '../../../src/runtime/access/audit-trail.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const DAY_MS = 24 * 60 * 60_000;
const NOON = Date.parse('2026-11-23T12:00:00Z');

/** A trail whose timers run when the test says so. */
function trail(store: EventStore = memoryEventStore(), days = 90) {
  const time = { now: NOON };
  const log = recordingLog();
  const timers: (() => void)[] = [];
  const clock = { setTimeout: (act: () => void) => timers.push(act), clearTimeout: () => undefined };
  const audit = new AuditTrail({ store, log, days, clock, now: () => time.now });
  const read = async (filter = {}): Promise<AuditEntry[]> => {
    const entries: AuditEntry[] = [];
    for await (const entry of await audit.read(filter)) entries.push(entry);
    return entries;
  };
  return { audit, store, time, timers, log, read };
}

const ADA = { principal: 'ada', tenant: 'acme', what: 'turn.start', outcome: 'ok' } as const;
const GUESS = { what: 'authenticate', outcome: 'UNAUTHORIZED', reason: 'unknown' } as const;

/** A trail whose first entry was not stored, because the disk was full. */
async function refusedTrail() {
  const store = new WatchedStore(memoryEventStore());
  const clock = new SimulatedClock();
  const audit = new AuditTrail({ store, log: recordingLog(), days: 90, clock });
  store.refuseNext('audit.recorded', new StorageFullError('the disk is full'));
  audit.record(ADA);
  await audit.flush();
  return { audit, store, clock };
}

describe('the audit trail', () => {
  it('has what was written days later, because the log was away, among what happened before', async () => {
    const { audit, time, timers, read } = trail();
    audit.record(ADA);
    time.now = NOON + 2 * DAY_MS;
    timers[0]?.();
    await audit.flush();
    expect(await read({ since: NOON - 1_000, until: NOON + 1_000 })).toMatchObject([ADA]);
  });

  it('writes once a second, and makes one of what is equal', async () => {
    const { audit, store, timers, read } = trail();
    audit.record(ADA);
    audit.record(ADA);
    audit.record({ ...ADA, principal: 'bob' });
    audit.record(ADA);
    expect(timers).toHaveLength(1);
    expect(await store.sessions()).toEqual([]);
    timers[0]?.();
    expect(await read()).toEqual([
      { time: '2026-11-23T12:00:00.000Z', ...ADA, count: 3 },
      { time: '2026-11-23T12:00:00.000Z', ...ADA, principal: 'bob' },
    ]);
    const [stream] = await store.sessions();
    expect(stream).toMatchObject({ sessionId: '~audit:2026-11-23', head: 1 });
  });

  it('stores what a client does in many sessions once, and reads an entry for each', async () => {
    const { audit, store, time, read } = trail();
    const by = { ...ADA, credential: 'key:a', address: '192.0.2.1' };
    audit.record({ ...by, sessionId: 'acme/ada/x' });
    audit.record({ ...by, what: 'session.reset', sessionId: 'acme/ada/x' });
    time.now += 7;
    audit.record({ ...by, sessionId: 'acme/ada/y' });
    audit.record({ ...by, sessionId: 'acme/ada/y' });
    audit.record({ ...by, address: '192.0.2.2', sessionId: 'acme/ada/y' });
    audit.record(by);
    const [at, later] = ['2026-11-23T12:00:00.000Z', '2026-11-23T12:00:00.007Z'];
    expect(await read()).toEqual([
      { time: at, ...by, sessionId: 'acme/ada/x' },
      { time: at, ...by, what: 'session.reset', sessionId: 'acme/ada/x' },
      { time: later, ...by, sessionId: 'acme/ada/y', count: 2 },
      { time: later, ...by, address: '192.0.2.2', sessionId: 'acme/ada/y' },
      { time: later, ...by },
    ]);
    expect(await read({ sessionId: 'acme/ada/y' })).toHaveLength(2);
    const [envelope] = await store.read('~audit:2026-11-23', 0);
    expect(envelope?.event).toMatchObject({ entries: [{ others: [[7, 'acme/ada/y', 2]] }, {}, {}, {}] });
  });

  it('keeps no more than its bound of one second, and says how many more there were', async () => {
    const { audit, store, read } = trail();
    for (let number = 0; number < 5_100; number += 1) audit.record({ ...ADA, subject: `s${number}` });
    const entries = await read();
    expect(entries).toHaveLength(5_001);
    expect(entries.at(-1)).toMatchObject({ what: 'audit.dropped', count: 100 });
    expect(await read({ tenant: 'acme' })).toHaveLength(5_000);
    const [envelope] = await store.read('~audit:2026-11-23', 0);
    expect(envelope?.event).toMatchObject({ type: 'audit.recorded', dropped: 100 });
  });

  it('makes one of what a source is refused, when it tries many things', async () => {
    const { audit, read } = trail();
    for (let number = 0; number < 1_000; number += 1)
      audit.record({ ...GUESS, address: '192.0.2.1', subject: `key${number}` });
    audit.record({ ...GUESS, address: '192.0.2.2', subject: 'key1' });
    const entries = await read();
    expect(entries).toHaveLength(22);
    expect(entries.slice(-2)).toMatchObject([
      { address: '192.0.2.1', count: 980 },
      { address: '192.0.2.2', subject: 'key1' },
    ]);
    expect(entries.at(-2)).not.toHaveProperty('subject');
  });

  it('keeps what was done, however many addresses are refused', async () => {
    const { audit, read } = trail();
    for (let number = 0; number < 2_000; number += 1) audit.record({ ...GUESS, address: `host${number}` });
    audit.record(ADA);
    const entries = await read();
    expect(entries).toHaveLength(502);
    expect(entries.slice(-2)).toMatchObject([ADA, { what: 'audit.dropped', count: 1_500 }]);
  });

  it('keeps what was done and failed, however many addresses are refused', async () => {
    const { audit, read } = trail();
    for (let number = 0; number < 2_000; number += 1) audit.record({ ...GUESS, address: `host${number}` });
    const failed = { ...ADA, what: 'tool.execute', outcome: 'TOOL_EXECUTION_FAILED' } as const;
    for (let number = 0; number < 30; number += 1)
      audit.record({ ...failed, subject: `files tool${number}` });
    const done = (await read()).filter(({ what }) => what === 'tool.execute');
    expect(done).toHaveLength(30);
    expect(done.at(-1)).toMatchObject({ subject: 'files tool29', outcome: 'TOOL_EXECUTION_FAILED' });
  });

  it('writes what it has when it is closed, and nothing later', async () => {
    const { audit, timers, read } = trail();
    audit.record(ADA);
    await audit[Symbol.asyncDispose]();
    audit.record({ ...ADA, principal: 'late' });
    expect(timers).toHaveLength(1);
    expect((await read()).map(({ principal }) => principal)).toEqual(['ada']);
  });

  it('selects by time, tenant, principal and session', async () => {
    const { audit, time, read } = trail();
    audit.record(ADA);
    await audit.flush();
    time.now = NOON + DAY_MS;
    audit.record({ ...ADA, principal: 'cleo', tenant: 'orbit', sessionId: 'orbit/cleo/x' });
    const namesOf = async (filter: object) => (await read(filter)).map(({ principal }) => principal);
    expect(await namesOf({})).toEqual(['ada', 'cleo']);
    expect(await namesOf({ since: NOON + 1 })).toEqual(['cleo']);
    expect(await namesOf({ until: NOON + 1 })).toEqual(['ada']);
    expect(await namesOf({ tenant: 'acme' })).toEqual(['ada']);
    expect(await namesOf({ principal: 'cleo' })).toEqual(['cleo']);
    expect(await namesOf({ sessionId: 'orbit/cleo/x' })).toEqual(['cleo']);
  });

  it('reads from the first day that is wanted on, because entries may have been written later', async () => {
    const store = memoryEventStore();
    const { audit, time, read } = trail(store);
    for (let day = 0; day < 4; day += 1) {
      time.now = NOON + day * DAY_MS;
      audit.record(ADA);
      await audit.flush();
    }
    time.now = Date.parse('2026-11-23T23:59:59.900Z');
    audit.record({ ...ADA, principal: 'late' });
    time.now += 1_000;
    await audit.flush();
    const reading = vi.spyOn(store, 'pages');
    const until = Date.parse('2026-11-24T00:00:00Z');
    expect((await read({ until })).map(({ principal }) => principal)).toEqual(['ada', 'late']);
    reading.mockClear();
    expect((await read({ since: NOON + DAY_MS + 1 })).map(({ principal }) => principal)).toEqual([
      'ada',
      'ada',
    ]);
    const days = ['~audit:2026-11-24', '~audit:2026-11-25', '~audit:2026-11-26'];
    expect(reading.mock.calls.map(([stream]) => stream)).toEqual(days);
  });

  it('goes on after a restart on the same day, and erases days that are too old', async () => {
    const store = memoryEventStore();
    const first = trail(store, 2);
    first.audit.record(ADA);
    await first.audit[Symbol.asyncDispose]();
    const second = trail(store, 2);
    second.audit.record({ ...ADA, principal: 'bob' });
    expect((await second.read()).map(({ principal }) => principal)).toEqual(['ada', 'bob']);
    second.time.now = NOON + 3 * DAY_MS;
    second.audit.record({ ...ADA, principal: 'eve' });
    expect((await second.read()).map(({ principal }) => principal)).toEqual(['eve']);
  });

  it('says when it could not write, and goes on', async () => {
    const store = memoryEventStore();
    const { audit, log, read } = trail({
      ...store,
      append: () => Promise.reject(new Error('the disk is full')),
      read: (...range) => store.read(...range),
      sessions: (...filter) => store.sessions(...filter),
      streamIds: (...range) => store.streamIds(...range),
    });
    audit.record(ADA);
    expect(await read()).toEqual([]);
    expect(log.lines.map(({ message }) => message)).toEqual([
      'entries of the audit trail could not be written',
    ]);
  });
});

describe('the audit trail while the log takes nothing', () => {
  it.each([
    ['the disk is full', new StorageFullError('the disk is full')],
    ['the database is away', new StorageAwayError('cannot append')],
  ])('keeps what it has, and writes it later, once: %s', async (_, reason) => {
    const store = new WatchedStore(memoryEventStore());
    const { audit, timers, read } = trail(store);
    store.beforeAppend = () => Promise.reject(reason);
    audit.record(ADA);
    await audit.flush();
    for (let number = 0; number < 5_100; number += 1) audit.record({ ...ADA, subject: `s${number}` });
    await audit.flush();
    store.beforeAppend = async () => undefined;
    timers.at(-1)?.();
    const entries = await read();
    expect(entries).toHaveLength(5_002);
    expect(entries[0]).not.toHaveProperty('subject');
    expect(entries.at(-1)).toMatchObject({ what: 'audit.dropped', count: 100 });
    expect(await read()).toHaveLength(5_002);
  });

  it('does not write twice what may be stored', async () => {
    const store = new WatchedStore(memoryEventStore());
    const { audit, read } = trail(store);
    store.afterAppend = () => Promise.reject(new StorageAwayError('no answer', { mayBeStored: true }));
    audit.record(ADA);
    await audit.flush();
    store.afterAppend = async () => undefined;
    audit.record({ ...ADA, principal: 'bob' });
    expect((await read()).map(({ principal }) => principal)).toEqual(['ada', 'bob']);
  });

  it('tries again by itself', async () => {
    const { audit, store, clock } = await refusedTrail();
    const tried = Promise.withResolvers<void>();
    store.beforeAppend = async () => tried.resolve();
    clock.increment(30_000);
    await tried.promise;
    await audit[Symbol.asyncDispose]();
    expect(await store.sessions()).toMatchObject([{ head: 1 }]);
  });

  it('writes on by itself after an entry of which nobody knows whether it is stored', async () => {
    const { audit, store, clock } = await refusedTrail();
    audit.record({ ...ADA, principal: 'bob' });
    store.afterAppend = () => Promise.reject(new StorageAwayError('no answer', { mayBeStored: true }));
    await audit.flush();
    const written = Promise.withResolvers<void>();
    store.afterAppend = async () => written.resolve();
    clock.increment(1_000);
    await written.promise;
    await audit[Symbol.asyncDispose]();
    expect(await store.sessions()).toMatchObject([{ head: 2 }]);
  });
});

describe('the audit trail of several nodes', () => {
  it('has the entries of all, however often they write at the same time', async () => {
    const store = memoryEventStore();
    const nodes = [trail(store), trail(store), trail(store)];
    for (let second = 0; second < 5; second += 1) {
      for (const [index, { audit }] of nodes.entries())
        audit.record({ ...ADA, principal: `node${index}`, subject: `second${second}` });
      await Promise.all(nodes.map(({ audit }) => audit.flush()));
    }
    const entries = (await nodes[0]?.read()) ?? [];
    expect(entries).toHaveLength(15);
    expect(new Set(entries.map(({ principal, subject }) => `${principal} ${subject}`)).size).toBe(15);
    expect(nodes.flatMap(({ log }) => log.lines)).toEqual([]);
  });

  it('keeps what other nodes left no room for, and writes it later, once', async () => {
    const store = new WatchedStore(memoryEventStore());
    const { audit, timers, log, read } = trail(store);
    const stale = new StaleVersionError('~audit:2026-11-23', 0, 1);
    store.beforeAppend = () => Promise.reject(stale);
    audit.record(ADA);
    await audit.flush();
    audit.record({ ...ADA, principal: 'bob' });
    await audit.flush();
    expect(log.lines.map(({ level, fields }) => [level, fields.entries])).toEqual([
      ['error', 1],
      ['error', 1],
    ]);
    // Nobody need do anything for it to be tried again.
    expect(timers.length).toBeGreaterThan(2);
    store.beforeAppend = async () => undefined;
    timers.at(-1)?.();
    expect((await read()).map(({ principal }) => principal)).toEqual(['ada', 'bob']);
    expect((await read()).map(({ principal }) => principal)).toEqual(['ada', 'bob']);
  });
});
