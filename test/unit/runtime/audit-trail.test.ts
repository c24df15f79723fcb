import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { AuditEntry } from '../../../src/core/access/audit-entry.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { AuditTrail } from '../../../src/runtime/access/audit-trail.ts';
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

describe('the audit trail', () => {
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

  it('keeps no more than its bound of one second, and counts the rest', async () => {
    const { audit, store, read } = trail();
    for (let number = 0; number < 5_100; number += 1) audit.record({ ...ADA, subject: `s${number}` });
    expect(await read()).toHaveLength(5_000);
    const [envelope] = await store.read('~audit:2026-11-23', 0);
    expect(envelope?.event).toMatchObject({ type: 'audit.recorded', dropped: 100 });
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
