import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { SessionListener } from '../../../src/ports/bus.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';

const diskFull = new Error('disk full');
/** The longest wait between two tries. */
const LONG_MS = 30_000;

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
function nextFault(rig: SessionRig): Promise<void> {
  return new Promise((resolve) => {
    const listener: SessionListener = {
      hear: (signal) => {
        if ('event' in signal || signal.type !== 'session.fault') return;
        rig.bus.offSession('s', listener);
        resolve();
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

  it('goes on also when the disk is full for longer', async () => {
    const { rig, clock, heard } = start();
    await rig.say('hello');
    const refused = fillDisk(rig);
    const fault = nextFault(rig);
    (await rig.model.call(0)).answer('lost');
    await fault;
    for (let tries = 1; tries <= 3; tries += 1) {
      const again = nextFault(rig);
      clock.increment(LONG_MS);
      await again;
    }
    expect(refused).toEqual(['step.completed', 'turn.resumed', 'turn.resumed', 'turn.resumed']);
    rig.store.beforeAppend = async () => undefined;
    clock.increment(LONG_MS);
    (await rig.model.call(1)).answer('at last');
    await heard.event('turn.completed');
  });

  it('waits for somebody when it was begun five times, so that the model is not asked for ever', async () => {
    const { rig, clock, heard } = start();
    await rig.say('hello');
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      rig.store.refuseNext('step.completed', diskFull);
      const fault = nextFault(rig);
      (await rig.model.call(attempt - 1)).answer('lost');
      await fault;
      clock.increment(LONG_MS);
    }
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
