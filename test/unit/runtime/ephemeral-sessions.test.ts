import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import type { TurnOptions } from '../../../src/core/turn/turn-options.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { eventually } from '../../support/project/eventually.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';

const NO_TIME = 0;
const GRACE_MS = 10_000;
/** The longest wait between two tries. */
const LONG_MS = 30_000;
const options = { ephemeral: true } as const;

function start(store: EventStore, callsEarly = false) {
  const clock = new SimulatedClock();
  return { clock, rig: new SessionRig({ store, clock, callsEarly }) };
}

async function isGone(store: EventStore): Promise<void> {
  await eventually(
    () => store.sessions({}),
    (sessions) => sessions.length === 0,
  );
}

/** The events of a session that has had one turn. */
const NEXT_TURN = ['turn.requested', 'turn.started', 'step.completed', 'turn.completed'];

async function typesOf(store: EventStore): Promise<string[]> {
  return (await store.read('s', 0)).map(({ event }) => event.type);
}

function refusals({ log }: SessionRig): number {
  return log.lines.filter(({ level }) => level === 'warn').length;
}

describe('a session whose client wants nothing to be kept', () => {
  it.each([false, true])(
    'is deleted some time after its turn (model called early: %s)',
    async (callsEarly) => {
      const store = memoryEventStore();
      const { rig, clock } = start(store, callsEarly);
      const heard = rig.listen();
      await rig.say('hello', { options });
      (await rig.model.call(0)).answer('hi');
      await heard.event('turn.completed');
      expect(await store.sessions({ open: true })).toHaveLength(1);
      clock.increment(GRACE_MS - 1);
      expect(await store.sessions({})).toHaveLength(1);
      clock.increment(1);
      await isGone(store);
    },
  );

  it('may have been deleted by its client before', async () => {
    const store = memoryEventStore();
    const { rig, clock } = start(store);
    const heard = rig.listen();
    await rig.say('hello', { options });
    (await rig.model.call(0)).answer('hi');
    await heard.event('turn.completed');
    await rig.registry.delete('s', CLIENT);
    clock.increment(GRACE_MS);
    await rig.registry.session('other');
    expect(await store.sessions({})).toEqual([]);
    expect(rig.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('is deleted later if the log refuses, however often', async () => {
    const store = memoryEventStore();
    const { rig, clock } = start(store);
    const heard = rig.listen();
    await rig.say('hello', { options });
    (await rig.model.call(0)).answer('hi');
    await heard.event('turn.completed');
    rig.store.beforeAppend = () => Promise.reject(new StorageAwayError('cannot append'));
    clock.increment(GRACE_MS);
    for (let times = 1; times <= 3; times += 1) {
      await eventually(
        async () => refusals(rig),
        (count) => count === times,
      );
      if (times === 3) rig.store.beforeAppend = async () => undefined;
      clock.increment(LONG_MS);
    }
    await isGone(store);
  });

  it('leaves the next one alone also if its own deletion had failed', async () => {
    const store = memoryEventStore();
    const { rig, clock } = start(store);
    const heard = rig.listen();
    await rig.say('hello', { options });
    (await rig.model.call(0)).answer('hi');
    await heard.event('turn.completed');
    rig.store.refuseNext('session.deleted', new StorageAwayError('cannot append'));
    clock.increment(GRACE_MS);
    await eventually(
      async () => refusals(rig),
      (count) => count === 1,
    );
    await rig.registry.delete('s', CLIENT);
    await rig.say('again');
    const call = await rig.model.call(1);
    clock.increment(LONG_MS);
    call.answer('hi again');
    await heard.event('turn.completed', 'again');
    expect(await typesOf(store)).toEqual(NEXT_TURN);
  });

  it('leaves the next one with its id alone', async () => {
    const store = memoryEventStore();
    const { rig, clock } = start(store);
    const heard = rig.listen();
    await rig.say('hello', { options });
    (await rig.model.call(0)).answer('hi');
    await heard.event('turn.completed');
    await rig.registry.delete('s', CLIENT);
    await rig.say('again', { options });
    const call = await rig.model.call(1);
    clock.increment(GRACE_MS);
    call.answer('hi again');
    await heard.event('turn.completed', 'again');
    expect(await typesOf(store)).toEqual(NEXT_TURN);
  });

  it('is deleted after a restart: its turn goes on first', async () => {
    const store = memoryEventStore();
    const before = start(store);
    await before.rig.say('hello', { options });
    await before.rig.model.call(0);
    await before.rig.registry.drain(NO_TIME);
    const { rig, clock } = start(store);
    const heard = rig.listen();
    await rig.registry.recover();
    (await rig.model.call(0)).answer('hi');
    await heard.event('turn.completed');
    clock.increment(GRACE_MS);
    await isGone(store);
  });

  it('is deleted after a restart right after its turn', async () => {
    const store = memoryEventStore();
    const before = start(store);
    const heard = before.rig.listen();
    await before.rig.say('hello', { options });
    (await before.rig.model.call(0)).answer('hi');
    await heard.event('turn.completed');
    await before.rig.registry.drain(NO_TIME);
    before.clock.increment(GRACE_MS);
    expect(await store.sessions({})).toHaveLength(1);
    const { rig, clock } = start(store);
    await rig.registry.recover();
    clock.increment(GRACE_MS);
    await isGone(store);
  });

  describe('and whose turn begins in a fork', () => {
    /** A log with the session `from`, which has had a turn with these options, and a fork of it. */
    async function forked(turn: TurnOptions, fork: { ephemeral?: true } = { ephemeral: true }) {
      const store = memoryEventStore();
      const { rig, clock } = start(store);
      const heard = rig.listen('from');
      await rig.say('hello', { sessionId: 'from', options: turn });
      (await rig.model.call(0)).answer('hi');
      await heard.event('turn.completed');
      const at = (await rig.logged('from')).length;
      await rig.registry.fork({ from: 'from', at, to: 's', ...fork }, CLIENT);
      return { store, rig, clock };
    }
    const idsIn = async (store: EventStore) => (await store.sessions({})).map(({ sessionId }) => sessionId);

    it('is deleted if the turn never begins', async () => {
      const { store, clock } = await forked({});
      clock.increment(GRACE_MS);
      await eventually(
        () => idsIn(store),
        (ids) => ids.join() === 'from',
      );
    });

    it('is deleted also if the service ends before the turn begins', async () => {
      const before = await forked({});
      await before.rig.registry.drain(NO_TIME);
      const { rig, clock } = start(before.store);
      await rig.registry.recover();
      clock.increment(GRACE_MS);
      await eventually(
        () => idsIn(before.store),
        (ids) => ids.join() === 'from',
      );
    });

    it('stays while the turn runs, however long, and is deleted after it', async () => {
      const { store, rig, clock } = await forked({});
      const heard = rig.listen();
      await rig.say('again', { options });
      const call = await rig.model.call(1);
      clock.increment(GRACE_MS);
      await (await rig.registry.session('s')).settled();
      call.answer('hi again');
      await heard.event('turn.completed', 'again');
      expect(await idsIn(store)).toEqual(['from', 's']);
      clock.increment(GRACE_MS);
      await eventually(
        () => idsIn(store),
        (ids) => ids.join() === 'from',
      );
    });

    it('is no other fork, even of a session that is not to be kept', async () => {
      const { store, rig } = await forked(options, {});
      await rig.registry.drain(NO_TIME);
      const { length } = await store.read('s', 0);
      // As in a log that was repaired.
      await store.append('s', length, [], { open: true });
      const after = start(store);
      await after.rig.registry.recover();
      after.clock.increment(GRACE_MS);
      await after.rig.registry.session('other');
      expect(await idsIn(store)).toContain('s');
    });
  });

  it('is no other one: what only counts as open stays', async () => {
    const store = memoryEventStore();
    await store.append('s', 0, [{ type: 'session.renamed', title: 'Mine' }], { open: true });
    const { rig, clock } = start(store);
    await rig.registry.recover();
    clock.increment(GRACE_MS);
    await rig.registry.session('other');
    expect(await store.sessions({})).toHaveLength(1);
  });
});
