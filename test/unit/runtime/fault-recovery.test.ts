import { describe, expect, it, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import type { SessionFault } from '../../../src/core/session/session-signal.ts';
import type { SessionListener } from '../../../src/ports/bus.ts';
import { SessionElsewhereError } from '../../../src/ports/membership.ts';
import { FaultRecovery } from '../../../src/runtime/sessions/fault-recovery.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const diskFull = new Error('disk full');
/** The longest wait between two tries. */
const LONG_MS = 30_000;
const NOT_LOADED = 'a session with an open turn could not be loaded again';

function start() {
  const clock = new SimulatedClock();
  const rig = new SessionRig({ clock, stepTimeoutMs: 3_600_000 });
  return { clock, rig, heard: rig.listen() };
}

/** Its reply was refused, once. */
async function faulted() {
  const started = start();
  const { rig, heard } = started;
  await rig.say('hello');
  rig.store.refuseNext('step.completed', diskFull);
  (await rig.model.call(0)).answer('lost');
  await heard.fault();
  return started;
}

/** Resolves at the next fault of the session. */
function nextFault(rig: SessionRig): Promise<SessionFault> {
  return new Promise((resolve) => {
    const listener: SessionListener = {
      hear: (signal) => {
        if ('event' in signal || signal.type !== 'session.fault') return;
        rig.bus.offSession('s', listener);
        resolve(signal);
      },
    };
    rig.bus.onSession('s', listener);
  });
}

/** Refuses everything until it is told otherwise. @returns what it has refused. */
function fillDisk(rig: SessionRig) {
  const refused: string[] = [];
  rig.store.beforeAppend = async ([event]) => {
    refused.push(event?.type ?? '');
    throw diskFull;
  };
  return refused;
}

describe('a turn that could not be recorded', () => {
  it('goes on by itself after a moment, as after a restart', async () => {
    const { rig, clock, heard } = await faulted();
    clock.increment(LONG_MS);
    (await rig.model.call(1)).answer('found again');
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'found again' });
    expect((await rig.logged()).filter(({ type }) => type === 'turn.resumed')).toHaveLength(1);
  });

  it('goes on also when the disk is full for longer, and tells once that it was interrupted', async () => {
    const { rig, clock, heard } = start();
    await rig.say('hello');
    const refused = fillDisk(rig);
    const fault = nextFault(rig);
    (await rig.model.call(0)).answer('lost');
    await fault;
    const told = vi.spyOn(rig.bus, 'publish');
    for (let tries = 1; tries <= 3; tries += 1) {
      clock.increment(LONG_MS);
      await vi.waitUntil(() => rig.log.lines.at(-1)?.message === NOT_LOADED && refused.length === 1 + tries);
      rig.log.lines.length = 0;
    }
    expect(refused).toEqual(['step.completed', 'turn.resumed', 'turn.resumed', 'turn.resumed']);
    expect(told).not.toHaveBeenCalled();
    rig.store.beforeAppend = async () => undefined;
    clock.increment(LONG_MS);
    (await rig.model.call(1)).answer('at last');
    await heard.event('turn.completed');
  });

  it('waits for somebody when it was begun five times, so that the model is not asked for ever', async () => {
    const { rig, clock, heard } = start();
    await rig.say('hello');
    const told: unknown[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      rig.store.refuseNext('step.completed', diskFull);
      const fault = nextFault(rig);
      (await rig.model.call(attempt - 1)).answer('lost');
      told.push((await fault).error.details.continues);
      clock.increment(LONG_MS);
    }
    expect(told).toEqual([true, true, true, true, false]);
    expect(rig.log.lines.at(-1)).toMatchObject({ level: 'error', fields: { sessionId: 's', attempts: 5 } });
    await rig.say('is anybody there?');
    (await rig.model.call(5)).answer('yes');
    expect(await heard.event('turn.completed', 'hello')).toMatchObject({ content: 'yes' });
  });

  it('goes on although it has been moved or begun anew five times before', async () => {
    const clock = new SimulatedClock();
    const store = memoryEventStore();
    const moves = [2, 3, 4, 5].map(
      (attempt) => ({ type: 'turn.resumed', turnId: 'hello', attempt }) as const,
    );
    await store.append(
      's',
      0,
      [
        { type: 'turn.requested', turnId: 'hello', text: 'hello' },
        { type: 'turn.started', turnId: 'hello' },
        ...moves,
      ],
      { open: true },
    );
    const rig = new SessionRig({ store, clock, stepTimeoutMs: 3_600_000 });
    const heard = rig.listen();
    await rig.registry.recover();
    rig.store.refuseNext('step.completed', diskFull);
    (await rig.model.call(0)).answer('lost');
    await heard.fault();
    clock.increment(LONG_MS);
    (await rig.model.call(1)).answer('found again');
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'found again' });
  });

  it('stays open in the log when the service stops meanwhile', async () => {
    const { rig, clock } = await faulted();
    const { reads } = rig.store;
    await rig.registry.drain(0);
    clock.increment(LONG_MS);
    expect(rig.store.reads).toBe(reads);
  });
});

/** Its message is stored, and nobody knows. */
async function sayWithoutAnswer(rig: SessionRig, text: string): Promise<void> {
  rig.store.afterAppend = async () => {
    rig.store.afterAppend = async () => undefined;
    throw new StorageAwayError('the connection was lost', { mayBeStored: true });
  };
  await expect(rig.say(text)).rejects.toThrow('the connection was lost');
}

describe('a message of which nobody knows whether it was recorded', () => {
  it('is answered by itself if it was, also the first one of a session', async () => {
    const { rig, clock, heard } = start();
    await sayWithoutAnswer(rig, 'first');
    clock.increment(LONG_MS);
    (await rig.model.call(0)).answer('1');
    await heard.event('turn.completed', 'first');
    await sayWithoutAnswer(rig, 'second');
    clock.increment(LONG_MS);
    (await rig.model.call(1)).answer('2');
    await heard.event('turn.completed', 'second');
    expect((await rig.logged()).filter(({ type }) => type === 'turn.requested')).toHaveLength(2);
  });

  it('is not looked for if it certainly was not', async () => {
    const { rig, clock } = start();
    rig.store.refuseNext('turn.requested', new StorageAwayError('away'));
    await expect(rig.say('hello')).rejects.toThrow('away');
    expect(rig.registry.caresFor('s')).toBe(false);
    clock.increment(LONG_MS);
    expect(rig.registry.loaded.size).toBe(0);
  });
});

describe('a session with an open turn that could not be loaded', () => {
  /** It was begun by a service that is no more. */
  async function begun() {
    const started = start();
    const { rig } = started;
    const events = [
      { type: 'turn.requested', turnId: 'hello', text: 'hello' },
      { type: 'turn.started', turnId: 'hello' },
    ] as const;
    await rig.journal.append('s', 0, events, { open: true, origin: CLIENT });
    return started;
  }

  it('is loaded again when the log can be read again', async () => {
    const { rig, clock, heard } = await begun();
    rig.store.beforeRead = async () => {
      rig.store.beforeRead = async () => undefined;
      throw new StorageAwayError('away');
    };
    await expect(rig.registry.goOn('s')).rejects.toThrow('away');
    expect(rig.registry.caresFor('s')).toBe(true);
    clock.increment(LONG_MS);
    (await rig.model.call(0)).answer('at last');
    await heard.event('turn.completed');
  });

  it('waits for somebody if trying again does not help', async () => {
    const { rig, clock, heard } = await begun();
    rig.store.beforeRead = async () => {
      throw new Error('damaged');
    };
    await expect(rig.registry.goOn('s')).rejects.toThrow('damaged');
    const { reads } = rig.store;
    clock.increment(LONG_MS);
    expect(rig.store.reads).toBe(reads);
    expect(rig.registry.caresFor('s')).toBe(true);
    rig.store.beforeRead = async () => undefined;
    const session = await rig.registry.session('s');
    (await rig.model.call(0)).answer('at last');
    await heard.event('turn.completed');
    await session.settled();
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.caresFor('s')).toBe(false);
  });

  it('is left to the process that has it by then', async () => {
    const clock = new SimulatedClock();
    const log = recordingLog();
    const tried = Promise.withResolvers<void>();
    const load = async (): Promise<void> => {
      tried.resolve();
      throw new SessionElsewhereError('s', 2);
    };
    const recovery = new FaultRecovery({ load, log, clock });
    recovery.loadLater('s', null);
    clock.increment(LONG_MS);
    await tried.promise;
    await new Promise(setImmediate);
    expect(recovery.has('s')).toBe(false);
    expect(log.lines).toEqual([]);
  });
});
