import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ed25519Keys } from '../../../src/adapters/push/ed25519-keys.ts';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { PUSH_STREAMS } from '../../../src/core/log/streams.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { serviceOrigin } from '../../../src/core/request/request-origin.ts';
import { reportTask } from '../../../src/gateway/a2a/pushed-task.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import type { PushMessage } from '../../../src/ports/push-sender.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { PushBook } from '../../../src/runtime/push/push-book.ts';
import { PushDeliveries } from '../../../src/runtime/push/push-deliveries.ts';
import { PushKey } from '../../../src/runtime/push/push-key.ts';
import { Journal } from '../../../src/runtime/sessions/journal.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const TURN = { sessionId: 's', turnId: 't1' };
const CONFIG = { id: 'c', url: 'https://client.example/' };
const WANTED = { ...TURN, afterSeq: 0, config: CONFIG, hasBegun: true };
/** More than the first two delays together. */
const LATER_MS = 4_000;

/** The notifications of a node. Its log fails as often as the test says: when streams are listed, configs read, or kept. */
async function rig() {
  const kept = memoryEventStore();
  const faults = { list: 0, read: 0, keep: 0 };
  const session = { head: 3 };
  const fail = (what: keyof typeof faults): void => {
    if (faults[what] === 0) return;
    faults[what] -= 1;
    throw new Error(`cannot ${what}`);
  };
  const store: EventStore = {
    ...keptOpen(kept),
    streamIds: async (after, limit) => {
      fail('list');
      return kept.streamIds(after, limit);
    },
    read: async (streamId, ...page) => {
      if (streamId.startsWith(PUSH_STREAMS)) fail('read');
      return kept.read(streamId, ...page);
    },
    append: async (streamId, ...append) => {
      const appended = await kept.append(streamId, ...append);
      // Its answer is lost.
      if (streamId.startsWith(PUSH_STREAMS)) fail('keep');
      return appended;
    },
  };
  await kept.append('s', 0, [
    { type: 'turn.requested', turnId: TURN.turnId, text: 'hello' },
    { type: 'turn.started', turnId: TURN.turnId },
    { type: 'turn.completed', turnId: TURN.turnId, content: '' },
  ]);
  const bus = new LocalBus(() => undefined);
  const journal = new Journal(store, bus);
  bus.handle('session.events', ({ sessionId, afterSeq, limit }) => journal.read(sessionId, afterSeq, limit));
  bus.handle('session.position', async () => ({ ...session, running: null, reasoning: null }));
  const box = sealedBox(memoryKeys());
  const book = new PushBook(store, box);
  const log = recordingLog();
  const clock = new SimulatedClock();
  const sent: PushMessage[] = [];
  let noteLeft = (): void => undefined;
  const deliveries = new PushDeliveries({
    bus,
    book,
    log,
    clock,
    report: reportTask,
    contentType: 'application/a2a+json',
    now: () => clock.now(),
    sender: {
      check: async () => undefined,
      send: async (message) => {
        sent.push(message);
        return { status: 200 };
      },
    },
    key: new PushKey(book, ed25519Keys),
    duty: {
      claim: async () => true,
      release: () => undefined,
      onLeft: (listener) => {
        noteLeft = listener;
        return () => undefined;
      },
    },
  });
  return {
    deliveries,
    faults,
    session,
    sent,
    log,
    eraseSession: () => kept.erase('s'),
    configs: () => book.streamsOf(TURN),
    /** Another node has made a config, and is gone. */
    async leave(inBox = box) {
      const push = {
        config: CONFIG,
        pushId: 'p',
        ...TURN,
        afterSeq: 0,
        head: 0,
        client: { principal: 'anonymous', tenant: 'default', agent: 'default' },
      };
      await new PushBook(kept, inBox).keep(push, serviceOrigin());
      noteLeft();
    },
    /** Resolves when so many errors were logged. */
    failed: (count: number) =>
      expect.poll(() => log.lines.filter(({ level }) => level === 'error').length).toBe(count),
    /** Lets the time of the next try come. */
    async pass() {
      for (let rounds = 0; rounds < 10; rounds += 1) await nextLoop();
      clock.increment(LATER_MS);
    },
    [Symbol.asyncDispose]: () => deliveries[Symbol.asyncDispose](),
  };
}

describe('configs for push notifications that could not be taken over', () => {
  it('are taken over later, however often the log fails', async () => {
    await using node = await rig();
    const { faults, sent, leave, failed, pass } = node;
    faults.list = 1;
    faults.read = 1;
    await leave();
    await failed(1);
    expect(sent).toEqual([]);
    await pass();
    await failed(2);
    expect(sent).toEqual([]);
    await pass();
    await expect.poll(() => sent.length).toBeGreaterThan(0);
  });

  it('are taken over later when they were stored although their client heard of an error', async () => {
    await using node = await rig();
    const { deliveries, faults, sent, pass } = node;
    faults.keep = 1;
    const registered = deliveries.register(WANTED, ANYONE);
    await expect(registered).rejects.toThrow('cannot keep');
    expect(sent).toEqual([]);
    await pass();
    await expect.poll(() => sent.length).toBeGreaterThan(0);
  });

  it('are left alone until the next start if nobody can decrypt them', async () => {
    await using node = await rig();
    const { log, leave, failed, pass } = node;
    await leave(sealedBox(memoryKeys()));
    await failed(1);
    await pass();
    await pass();
    expect(log.lines).toHaveLength(1);
  });
});

describe('a config for push notifications whose session is deleted meanwhile', () => {
  it('is refused if the session is gone already', async () => {
    await using node = await rig();
    const { deliveries, session, configs, eraseSession } = node;
    await eraseSession();
    session.head = 0;
    await expect(deliveries.register(WANTED, ANYONE)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await configs()).toEqual([]);
  });

  it('is erased if nobody tells of the end of the session any more', async () => {
    await using node = await rig();
    const { deliveries, sent, configs, eraseSession } = node;
    await eraseSession();
    await deliveries.register(WANTED, ANYONE);
    await expect.poll(configs).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('waits for a turn that has not begun', async () => {
    await using node = await rig();
    const { deliveries, session, configs, eraseSession, pass } = node;
    await eraseSession();
    session.head = 0;
    await deliveries.register({ ...WANTED, hasBegun: false }, ANYONE);
    await pass();
    expect(await configs()).toHaveLength(1);
  });
});
