import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { evolve, initialSessionState, type SessionState } from '../../../src/core/session/session-state.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { oneByOne } from '../../conformance/snapshot-store.ts';
import { WatchedSnapshots } from '../../support/log/watched-snapshots.ts';
import { stepCompleted, stepParts } from '../../support/models/steps.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';

const LONG = 3_000;

/** So many events, of turns that are answered; each text says what the turn was. */
function turns(name: string, count: number): SessionEvent[] {
  return Array.from({ length: count / 4 }, (_, index): SessionEvent[] => {
    const turnId = `${name}-${index}`;
    return [
      { type: 'turn.requested', turnId, text: turnId },
      { type: 'turn.started', turnId },
      stepCompleted({ turnId, text: `re: ${turnId}` }),
      { type: 'turn.completed', turnId, content: `re: ${turnId}` },
    ];
  }).flat();
}

function foldOf(events: readonly SessionEvent[]): SessionState {
  return events.reduce(evolve, initialSessionState());
}

interface Past {
  readonly store: EventStore;
  readonly snapshots: WatchedSnapshots;
  readonly events: SessionEvent[];
}

/** A log with a long session, of which a snapshot was taken, and then some events more. */
async function longSession(more = 40): Promise<Past> {
  const past = { store: memoryEventStore(), snapshots: new WatchedSnapshots(), events: turns('old', LONG) };
  await past.store.append('s', 0, past.events);
  await new SessionRig(past).registry.session('s');
  await past.snapshots.saves(1);
  const newer = turns('new', more);
  await past.store.append('s', LONG, newer);
  return { ...past, events: [...past.events, ...newer] };
}

describe('a long session that is loaded again', () => {
  it('is what its whole log says, though only what came after the snapshot is read', async () => {
    const past = await longSession();
    const rig = new SessionRig(past);
    const { state } = await rig.registry.session('s');
    expect(state).toStrictEqual(foldOf(past.events));
    // The event of the snapshot, and the page after it.
    expect(rig.store.reads).toBe(2);
    expect(rig.log.lines).toEqual([]);
  });

  it('is the same without the snapshot', async () => {
    const past = await longSession();
    await past.snapshots.erase('s');
    const rig = new SessionRig(past);
    expect((await rig.registry.session('s')).state).toStrictEqual(foldOf(past.events));
    expect(rig.store.reads).toBeGreaterThan(3);
  });

  it('shares nothing with the snapshot: what is folded in later does not change it', async () => {
    const past = await longSession();
    const first = await new SessionRig(past).fold.at('s');
    evolve(first.state, { type: 'session.reset' });
    expect((await new SessionRig(past).fold.at('s')).state).toStrictEqual(foldOf(past.events));
  });

  it.each([...[1, 2, 999, 1_000, 1_001, LONG - 1], ...[LONG, LONG + 1, LONG + 39, LONG + 40]])(
    'was at seq %i what its first events say',
    async (at) => {
      const past = await longSession();
      const { state, last } = await new SessionRig(past).fold.at('s', at);
      expect(state).toStrictEqual(foldOf(past.events.slice(0, at)));
      expect(last?.seq).toBe(at);
    },
  );

  it('lets others go on while it is folded, with a snapshot and without', async () => {
    const past = await longSession();
    expect(await loopsDuring(() => new SessionRig(past).fold.at('s'))).toBeGreaterThan(1);
    await past.snapshots.erase('s');
    expect(await loopsDuring(() => new SessionRig(past).fold.at('s'))).toBeGreaterThan(1);
  });

  it('is folded once for a fork of it, which goes on from the same past', async () => {
    const past = await longSession();
    const rig = new SessionRig(past);
    const fork = await rig.registry.fork({ from: 's', at: LONG + 4, to: 'fork' }, CLIENT);
    const forked = await rig.logged('fork');
    expect(forked).toHaveLength(LONG + 5);
    expect(fork.state).toStrictEqual((await new SessionRig({ store: past.store }).fold.at('fork')).state);
    expect(fork.state.transcript.at(-1)).toMatchObject({ parts: stepParts('re: new-0') });
  });
});

describe('a snapshot that does not belong to the log', () => {
  it('is passed over and erased when the log was cut back', async () => {
    const { snapshots } = await longSession();
    const store = memoryEventStore();
    await store.append('s', 0, turns('old', 400));
    await expectNotUsed({ store, snapshots, events: turns('old', 400) });
  });

  it('is passed over and erased when the log has grown beyond it with other events', async () => {
    const { snapshots } = await longSession();
    const store = memoryEventStore();
    const events = [...turns('old', 400), ...turns('other', 800)];
    // Below a thousand events nothing is snapshotted anew, which would hide whether the old one was erased.
    await store.append('s', 0, events.slice(0, 900));
    await expectNotUsed({ store, snapshots, events: events.slice(0, 900) });
  });

  it('is passed over when the log has another event at its seq', async () => {
    const { snapshots } = await longSession();
    const events = turns('other', LONG + 400);
    const store = memoryEventStore();
    await store.append('s', 0, events);
    expect((await new SessionRig({ store, snapshots }).fold.at('s')).state).toStrictEqual(foldOf(events));
  });

  async function expectNotUsed(past: Past): Promise<void> {
    const rig = new SessionRig(past);
    expect((await rig.registry.session('s')).state).toStrictEqual(foldOf(past.events));
    expect(await past.snapshots.load('s')).toBeUndefined();
    expect(rig.log.lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('does not belong to the log'),
    ]);
  }
});

describe('a snapshot store that fails', () => {
  it.each(['load', 'save', 'erase'] as const)(
    'is told to the operator when it cannot %s, and the session goes on',
    async (broken) => {
      const { snapshots } = await longSession();
      const events = turns('other', LONG);
      const store = memoryEventStore();
      await store.append('s', 0, events);
      snapshots.beforeCall = async (call) => {
        if (call === broken) throw new Error('disk gone');
      };
      const rig = new SessionRig({ store, snapshots });
      expect((await rig.registry.session('s')).state).toStrictEqual(foldOf(events));
      await rig.snapshots.settled();
      const errors = rig.log.lines.map(({ fields }) => fields.err).filter((error) => error !== undefined);
      expect(errors).toEqual([new Error('disk gone')]);
      await rig.say('still there');
      expect((await rig.model.call(0)).userText).toBe('still there');
      await rig.registry.drain(0);
    },
  );

  it.each(['load', 'save', 'erase'] as const)(
    'is no news when it cannot %s because the database is away, which is said once',
    async (broken) => {
      const { snapshots } = await longSession();
      const store = memoryEventStore();
      await store.append('s', 0, turns('other', LONG));
      snapshots.beforeCall = async (call) => {
        if (call === broken) throw new StorageAwayError('the database is away');
      };
      const rig = new SessionRig({ store, snapshots });
      await rig.registry.session('s');
      await rig.snapshots.settled();
      const failed = rig.log.lines.filter(({ fields }) => fields.err !== undefined);
      expect(failed.map(({ level }) => level)).toEqual(['debug']);
    },
  );

  it('gives what is no snapshot of this version, which is passed over', async () => {
    const past = await longSession();
    await past.snapshots.save('s', LONG, oneByOne('{"version":0}'));
    expect((await new SessionRig(past).fold.at('s')).state).toStrictEqual(foldOf(past.events));
  });
});

describe('snapshots of a session in memory', () => {
  it('are taken after a thousand events, then each time it has grown by a quarter of its messages', async () => {
    const snapshots = new WatchedSnapshots();
    const rig = new SessionRig({ snapshots });
    const grown = rig.snapshots.follow('s', 0);
    let state = initialSessionState();
    for (const [index, event] of turns('t', 20_000).entries()) {
      state = evolve(state, event);
      grown(state, { sessionId: 's', seq: index + 1, time: 0, event, meta: null });
    }
    await rig.snapshots.settled();
    expect(snapshots.saved.slice(0, 4)).toEqual([1_000, 2_000, 3_000, 4_000]);
    // Half as many messages as events: from 8,000 events on, a quarter of them is more than a thousand.
    const gaps = snapshots.saved.map((seq, index) => seq - (snapshots.saved[index - 1] ?? 0));
    expect(gaps.at(-1)).toBeGreaterThan(1_900);
    expect(gaps.at(-1)).toBeLessThan(2_600);
  });

  it('are taken while it is used, and keep no message waiting', async () => {
    const snapshots = new WatchedSnapshots();
    const store = memoryEventStore();
    await store.append('s', 0, turns('old', 996));
    const release = Promise.withResolvers<void>();
    snapshots.beforeCall = (call) => (call === 'save' ? release.promise : Promise.resolve());
    const rig = new SessionRig({ store, snapshots });
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).answer('Hi!');
    await heard.event('turn.completed', 'hello');
    expect(snapshots.saved).toEqual([]);
    await rig.say('again');
    expect((await rig.model.call(1)).userText).toBe('again');
    release.resolve();
    await snapshots.saves(1);
    expect(snapshots.saved).toEqual([1_000]);
    await rig.registry.drain(0);
  });

  it('are not tried again for each event when they cannot be saved', async () => {
    const snapshots = new WatchedSnapshots();
    snapshots.beforeCall = async () => {
      throw new Error('disk full');
    };
    const rig = new SessionRig({ snapshots });
    const grown = rig.snapshots.follow('s', 0);
    let state = initialSessionState();
    for (const [index, event] of turns('t', 2_500 - 4).entries()) {
      state = evolve(state, event);
      grown(state, { sessionId: 's', seq: index + 1, time: 0, event, meta: null });
    }
    await rig.snapshots.settled();
    expect(rig.log.lines).toHaveLength(2);
  });
});

describe('the snapshot of a session that is deleted', () => {
  it('is not taken', async () => {
    const snapshots = new WatchedSnapshots();
    const rig = new SessionRig({ snapshots });
    const event: SessionEvent = { type: 'session.deleted' };
    const state = { ...foldOf(turns('t', LONG)), seq: LONG + 1, deleted: true };
    rig.snapshots.follow('s', 0)(state, { sessionId: 's', seq: LONG + 1, time: 0, event, meta: null });
    await rig.snapshots.settled();
    expect(snapshots.saved).toEqual([]);
  });

  it('is erased before its events, and one that is being saved does not outlive it', async () => {
    const { store, snapshots } = await longSession(2_000);
    const rig = new SessionRig({ store, snapshots });
    const release = Promise.withResolvers<void>();
    const order: string[] = [];
    snapshots.beforeCall = async (call) => {
      order.push(call);
      if (call === 'save') await release.promise;
      if (call === 'erase') expect(await store.read('s', 0, 1)).toHaveLength(1);
    };
    await rig.registry.session('s');
    const deleted = rig.registry.delete('s', CLIENT);
    await nextLoop();
    expect(order).toEqual(['load', 'save']);
    release.resolve();
    await deleted;
    expect(order).toEqual(['load', 'save', 'erase']);
    expect(await snapshots.load('s')).toBeUndefined();
    expect(await store.read('s', 0)).toEqual([]);
  });

  it('holds the deletion up when it cannot be erased, and the next use finishes both', async () => {
    const { store, snapshots } = await longSession();
    const rig = new SessionRig({ store, snapshots });
    snapshots.beforeCall = async (call) => {
      if (call === 'erase') throw new Error('disk gone');
    };
    await expect(rig.registry.delete('s', CLIENT)).rejects.toThrow('disk gone');
    expect(await store.sessions({ open: true })).toHaveLength(1);
    snapshots.beforeCall = async () => undefined;
    expect((await rig.registry.session('s')).state.seq).toBe(0);
    expect(await snapshots.load('s')).toBeUndefined();
    expect(await store.read('s', 0)).toEqual([]);
  });
});

describe('the place of a session in its log', () => {
  it('is known without loading the session', async () => {
    const { store, snapshots } = await longSession();
    const rig = new SessionRig({ store, snapshots });
    expect(await rig.registry.position('s')).toEqual({ head: LONG + 40, running: null, reasoning: null });
    expect(await rig.registry.position('nobody')).toEqual({ head: 0, running: null, reasoning: null });
    expect(rig.registry.loaded.size).toBe(0);
    expect(rig.store.reads).toBe(0);
  });

  it('loads one that has an open turn, so that the turn goes on', async () => {
    const store = memoryEventStore();
    const before = new SessionRig({ store });
    await before.say('hello');
    await before.registry.drain(0);
    const rig = new SessionRig({ store });
    expect(await rig.registry.position('s')).toEqual({ head: 3, running: null, reasoning: null });
    (await rig.model.call(0)).say('Hi');
    expect(await rig.registry.position('s')).toMatchObject({ head: 3, running: { content: 'Hi' } });
    await rig.registry.drain(0);
  });
});

async function loopsDuring(work: () => Promise<unknown>): Promise<number> {
  let loops = 0;
  let over = false;
  const counting = (async () => {
    while (!over) {
      await nextLoop();
      loops += 1;
    }
  })();
  await work();
  over = true;
  await counting;
  return loops;
}
