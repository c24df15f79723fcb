import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { SessionElsewhereError } from '../../../src/ports/membership.ts';
import { SessionRetention } from '../../../src/runtime/sessions/session-retention.ts';
import { eventually } from '../../support/project/eventually.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A service that keeps sessions for two days, and answers each message. */
async function start() {
  const clock = new SimulatedClock();
  let setAheadMs = 0;
  const now = (): number => clock.now() + setAheadMs;
  const store = memoryEventStore(now);
  const rig = new SessionRig({
    store,
    clock,
    now,
    tools: new DirectedTools({ pay: {} }),
    approval: { rules: [], default: 'ask' },
    stepTimeoutMs: 1_000 * DAY_MS,
  });
  const { journal, registry: sessions, log } = rig;
  const answer = async (sessionId: string, text = `hello ${sessionId}`): Promise<void> => {
    const heard = rig.listen(sessionId);
    await rig.say(text, { sessionId, turnId: text });
    (await rig.model.callFor(text)).answer('Hi.');
    await heard.event('turn.completed');
  };
  const begin = () => new SessionRetention(2, { journal, sessions, log, clock, now });
  const sessionIds = async () => (await store.sessions()).map(({ sessionId }) => sessionId);
  /** Sets the time of day, which is not what timers go by. */
  const setAhead = (ms: number): void => {
    setAheadMs += ms;
  };
  return { rig, clock, store, answer, begin, sessionIds, setAhead };
}

/** Lets all that a timer has begun come to its end: the next timer is set then. */
async function pass({ clock }: { clock: SimulatedClock }, ms: number): Promise<void> {
  clock.increment(ms);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** The first sweep deletes nothing. The next one is due then, and has not begun. */
async function passFirstSweep(setup: { clock: SimulatedClock }, portions = 1): Promise<void> {
  await pass(setup, 60_000);
  for (let portion = 1; portion < portions; portion += 1) await pass(setup, 1_000);
}

describe('old sessions', () => {
  it('are deleted by the service, younger ones stay, exactly at the limit', async () => {
    const setup = await start();
    const { rig, clock, answer, begin, sessionIds } = setup;
    await answer('old');
    const heard = rig.listen('old');
    clock.increment(1);
    await answer('younger');
    clock.increment(2 * DAY_MS - 60_000);
    await using retention = begin();
    await passFirstSweep(setup);
    expect(await sessionIds()).toEqual(['old', 'younger']);
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => !ids.includes('old'));
    expect(await sessionIds()).toEqual(['younger']);
    expect(retention.deleted).toBe(1);
    expect(heard.signals).toMatchObject([
      { event: { type: 'session.deleted' }, meta: { actor: { kind: 'service' } } },
    ]);
    expect(rig.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'info',
        fields: { sessions: ['old'], retentionDays: 2 },
      }),
    );
    expect(rig.registry.loaded.size).toBe(1);
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => ids.length === 0);
  });

  it('stay while a turn is open or a call waits for approval', async () => {
    const setup = await start();
    const { rig, clock, begin, sessionIds } = setup;
    await rig.say('running', { sessionId: 'running' });
    await rig.model.callFor('running');
    const heard = rig.listen('asking');
    await rig.say('asking', { sessionId: 'asking' });
    (await rig.model.callFor('asking')).askFor({ name: 'pay' });
    await heard.event('approval.requested');
    clock.increment(30 * DAY_MS);
    await using retention = begin();
    await passFirstSweep(setup);
    await pass(setup, HOUR_MS);
    await pass(setup, HOUR_MS);
    expect(await sessionIds()).toEqual(['asking', 'running']);
    expect(retention.deleted).toBe(0);
  });

  it('stay if a message comes after the index was read', async () => {
    const setup = await start();
    const { rig, clock, answer, begin, sessionIds } = setup;
    await answer('a');
    await answer('b');
    clock.increment(30 * DAY_MS);
    const { registry } = rig;
    const session = await registry.session('b');
    const original = registry.deleteUnchanged.bind(registry);
    registry.deleteUnchanged = async (sessionId, head, origin) => {
      if (sessionId === 'b') await session.rename('I am needed', origin);
      return original(sessionId, head, origin);
    };
    await using retention = begin();
    await passFirstSweep(setup);
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => !ids.includes('a'));
    expect(await sessionIds()).toEqual(['b']);
    expect(retention.deleted).toBe(1);
    await answer('b', 'still here');
  });

  it('are deleted in portions, and keyed requests are left alone', async () => {
    const setup = await start();
    const { clock, store, begin, sessionIds, rig } = setup;
    for (let index = 0; index < 250; index += 1)
      await store.append(`s${String(index).padStart(3, '0')}`, 0, [{ type: 'session.reset' }]);
    await store.append('~request/1', 0, [{ type: 'session.reset' }]);
    clock.increment(30 * DAY_MS);
    await using retention = begin();
    await passFirstSweep(setup, 3);
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => ids.length === 151);
    await pass(setup, 999);
    expect(await sessionIds()).toHaveLength(151);
    await pass(setup, 1);
    await eventually(sessionIds, (ids) => ids.length === 51);
    await pass(setup, 1_000);
    await eventually(sessionIds, (ids) => ids.length === 1);
    expect(retention.deleted).toBe(250);
    expect(rig.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('are tried again later if the log refuses, and the others are deleted', async () => {
    const setup = await start();
    const { rig, clock, answer, begin, sessionIds } = setup;
    for (const id of ['a', 'b', 'c']) await answer(id);
    clock.increment(30 * DAY_MS);
    const { registry } = rig;
    const original = registry.deleteUnchanged.bind(registry);
    registry.deleteUnchanged = async (...args) => {
      if (args[0] === 'b') throw new Error('disk full');
      return original(...args);
    };
    await using _ = begin();
    await passFirstSweep(setup);
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => ids.length === 1);
    expect(rig.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ sessionId: 'b' }) }),
    );
    registry.deleteUnchanged = original;
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => ids.length === 0);
  });

  it('are left to the nodes that own them, without a word', async () => {
    const setup = await start();
    const { rig, clock, answer, begin, sessionIds } = setup;
    for (const id of ['a', 'b']) await answer(id);
    clock.increment(30 * DAY_MS);
    const { registry } = rig;
    const original = registry.deleteUnchanged.bind(registry);
    registry.deleteUnchanged = async (...args) => {
      if (args[0] === 'a') throw new SessionElsewhereError('a', 2);
      return original(...args);
    };
    await using retention = begin();
    await passFirstSweep(setup);
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => ids.length === 1);
    expect(retention.deleted).toBe(1);
    expect(rig.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('are not those that only look old because the clock was set', async () => {
    const setup = await start();
    const { answer, begin, sessionIds, setAhead } = setup;
    await using retention = begin();
    await passFirstSweep(setup);
    for (const id of ['left', 'used']) await answer(id);
    setAhead(60 * DAY_MS);
    await pass(setup, HOUR_MS);
    expect(await sessionIds()).toEqual(['left', 'used']);
    await answer('used', 'I am back');
    await pass(setup, HOUR_MS);
    await eventually(sessionIds, (ids) => ids.length === 1);
    expect(await sessionIds()).toEqual(['used']);
    expect(retention.deleted).toBe(1);
  });

  it('stay once the service stops', async () => {
    const setup = await start();
    const { clock, answer, begin, sessionIds } = setup;
    await answer('a');
    clock.increment(30 * DAY_MS);
    const retention = begin();
    retention.stop();
    await passFirstSweep(setup);
    await pass(setup, HOUR_MS);
    expect(await sessionIds()).toEqual(['a']);
  });
});
