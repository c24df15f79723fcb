import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { EMPTY_SESSION_BYTES } from '../../../src/core/session/retained-bytes.ts';
import type { TurnOptions } from '../../../src/core/turn/turn-options.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';
import { typesOf } from '../../support/log/session-log.ts';
import { said, textOf } from '../../support/models/steps.ts';
import { eventually } from '../../support/project/eventually.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const NO_TIME = 0;
const PLENTY_MS = 60_000;
/** Nothing is tried again after a longer wait. */
const MAX_RETRY_MS = 30_000;

/** The log of a service that stopped before it had answered that. */
async function logOfUnanswered(text: string): Promise<EventStore> {
  const store = memoryEventStore();
  const before = new SessionRig({ store });
  await before.say(text);
  await before.registry.drain(NO_TIME);
  return store;
}

describe('finding a session', () => {
  it('reads the log once and gives everybody the same actor, also when many ask at once', async () => {
    const rig = new SessionRig();
    const sessions = await Promise.all(Array.from({ length: 20 }, () => rig.registry.session('s')));
    expect(new Set(sessions).size).toBe(1);
    expect(rig.store.reads).toBe(1);
  });

  it('keeps sessions apart: a busy one holds up no other', async () => {
    const rig = new SessionRig();
    const other = rig.listen('b');
    await rig.say('busy', { sessionId: 'a' });
    await rig.say('quick', { sessionId: 'b' });
    (await rig.model.callFor('quick')).answer('done');
    await other.event('turn.completed');
    expect((await rig.model.callFor('busy')).signal.aborted).toBe(false);
  });

  it('refuses when the log cannot be read, and tries again at the next call', async () => {
    const rig = new SessionRig();
    rig.store.beforeRead = async () => {
      throw new Error('disk gone');
    };
    await expect(rig.registry.session('s')).rejects.toThrow('disk gone');
    rig.store.beforeRead = async () => undefined;
    await rig.say('hello');
    expect((await rig.model.call(0)).userText).toBe('hello');
  });

  it('has one actor also when the resumption of a turn could not be recorded', async () => {
    const store = await logOfUnanswered('hello');
    const rig = new SessionRig({ store });
    const heard = rig.listen();
    let during: Promise<unknown> | undefined;
    // The fault is logged when it comes, and the session has left memory right after that.
    vi.spyOn(rig.log, 'error').mockImplementation(() =>
      queueMicrotask(() => {
        during ??= rig.registry.session('s');
      }),
    );
    rig.store.refuseNext('turn.resumed', new Error('disk full'));
    await expect(rig.registry.session('s')).rejects.toThrow('disk full');
    // Somebody asked between the fault and the rejection: that session is the one that counts.
    expect(during).toBeDefined();
    expect(await rig.registry.session('s')).toBe(await during);
    (await rig.model.call(0)).answer('at last');
    await heard.event('turn.completed', 'hello');
    expect(rig.model.calls).toHaveLength(1);
  });

  it('tells the position of a session that cannot go on, as the log has it', async () => {
    const store = await logOfUnanswered('hello');
    const rig = new SessionRig({ store });
    rig.store.refuseNext('turn.resumed', new StorageFullError('disk full'));
    expect(await rig.registry.position('s')).toEqual({ head: 2, running: null, reasoning: null });
    expect(rig.log.lines.some(({ level }) => level === 'error')).toBe(true);
  });
});

describe('large messages', () => {
  const MEGABYTE = 1024 * 1024;
  const large = 'x'.repeat(2 * MEGABYTE);
  const at = (sessionId: string, turnId = sessionId) => ({ sessionId, turnId });

  /** Answers the call, and resolves when the session is at rest or goes on with its next turn. */
  async function answer(rig: SessionRig, call: number, sessionId: string): Promise<void> {
    (await rig.model.call(call)).answer('done');
    await rig.listen(sessionId).event('turn.completed');
    await (await rig.registry.session(sessionId)).settled();
  }

  it('are refused while those at work take all the room, and taken again afterwards', async () => {
    const rig = new SessionRig({ maxWorkingBytes: 5 * MEGABYTE });
    // At once: none of them is in the log yet.
    const first = await Promise.allSettled(['a', 'b', 'c'].map((sessionId) => rig.say(large, at(sessionId))));
    expect(first.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await expect(rig.say(large, at('c'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { limit: 5 * MEGABYTE, retryAfter: 5 },
    });
    await rig.say('a small one', at('d'));
    await answer(rig, 0, 'a');
    await rig.say(large, at('c'));
  });

  it('count while they wait, and as a part of a conversation that goes on', async () => {
    const rig = new SessionRig({ maxWorkingBytes: 5 * MEGABYTE });
    await rig.say(large, at('a', 'first'));
    await rig.say(large, at('a', 'second'));
    await expect(rig.say(large, at('b'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await answer(rig, 0, 'a');
    await answer(rig, 1, 'a');
    // The conversation itself is large now: with another one at work, there is no room for it.
    await rig.say(large, at('b'));
    await expect(rig.say('small', at('a', 'third'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('count together with the smaller ones that wait behind them', async () => {
    const policy = { queuedMessages: 100, whenBusy: 'enqueue' } as const;
    const rig = new SessionRig({ maxWorkingBytes: 5 * MEGABYTE, policy });
    const half = 'x'.repeat(MEGABYTE / 2);
    const sent = ['a', 'b'].flatMap((sessionId) =>
      Array.from({ length: 6 }, (_, index) => at(sessionId, `${sessionId}${index}`)),
    );
    const refused: string[] = [];
    for (const one of sent)
      await rig.say(half, one).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        refused.push(one.turnId);
      });
    expect(refused).toEqual(['b3', 'b4', 'b5']);
    // What is not large is still taken.
    await rig.say(half, at('c'));
  });

  it('count, as replies, while a key keeps them: after a reset and a load, too', async () => {
    const rig = new SessionRig();
    const key = { id: 'k', fingerprint: 'f', expiresAt: Date.now() + 86_400_000 };
    await rig.registry.startTurn('s', { type: 'turn.start', turnId: 't', text: 'hello', key }, CLIENT);
    (await rig.model.call(0)).answer(large);
    await rig.listen('s').event('turn.completed');
    await (await rig.registry.session('s')).reset(CLIENT);
    expect((await rig.registry.session('s')).bytes).toBeGreaterThan(large.length);
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.loaded.size).toBe(0);
    expect((await rig.registry.session('s')).bytes).toBeGreaterThan(large.length);
  });

  it('of one principal leave room for its tenant, and those of the tenant for other tenants', async () => {
    const rig = new SessionRig({ maxWorkingBytes: 16 * MEGABYTE });
    const ofOwner = { code: 'RATE_LIMIT_EXCEEDED', details: { name: 'largeSessions', remaining: 0 } };
    await rig.say(large, at('acme/key:ada/a'));
    await expect(rig.say(large, at('acme/key:ada/b'))).rejects.toMatchObject({
      ...ofOwner,
      details: { ...ofOwner.details, of: 'principal', limit: 4 * MEGABYTE },
    });
    for (const name of ['bob', 'cec', 'dan', 'fay']) await rig.say(large, at(`acme/key:${name}/a`));
    await expect(rig.say(large, at('acme/key:eve/a'))).rejects.toMatchObject({
      ...ofOwner,
      details: { ...ofOwner.details, of: 'tenant', limit: 12 * MEGABYTE },
    });
    await rig.say(large, at('other/key:ada/a'));
    // Those of nobody have no share.
    await rig.say(large, at('a'));
    await expect(rig.say(large, at('b'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await answer(rig, 0, 'acme/key:ada/a');
    await rig.say(large, at('acme/key:ada/b'));
  });

  it('of one session may take more than the share of its principal, and not more than that of its tenant', async () => {
    const rig = new SessionRig({ maxWorkingBytes: 8 * MEGABYTE });
    await rig.say(large, at('acme/key:ada/a', 'first'));
    await rig.say(large, at('acme/key:ada/a', 'second'));
    await expect(rig.say(large, at('acme/key:ada/b'))).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { of: 'principal' },
    });
    await answer(rig, 0, 'acme/key:ada/a');
    await answer(rig, 1, 'acme/key:ada/a');
    await expect(rig.say(large, at('acme/key:ada/a', 'third'))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { limit: 6 * MEGABYTE },
    });
  });

  it('are refused for good in a session that would take all the room alone, until it is reset', async () => {
    const rig = new SessionRig({ maxWorkingBytes: 3 * MEGABYTE });
    await rig.say(large, at('a', 'first'));
    await answer(rig, 0, 'a');
    const refusal = { code: 'INVALID_REQUEST', details: { field: 'sessionId', limit: 3 * MEGABYTE } };
    await expect(rig.say(large, at('a', 'second'))).rejects.toMatchObject(refusal);
    const given = [{ role: 'user', text: large }] as const;
    await expect(rig.registry.extend('a', given, CLIENT)).rejects.toMatchObject(refusal);
    await (await rig.registry.session('a')).reset(CLIENT);
    await rig.say(large, at('a', 'second'));
  });
});

describe('a message to a session that nobody has looked up', () => {
  const message = (text: string) => ({ type: 'turn.start', turnId: text, text }) as const;

  /** A log that has one answered message. */
  async function withPast() {
    const store = memoryEventStore();
    const before = new SessionRig({ store });
    const heard = before.listen();
    await before.say('hello');
    (await before.model.call(0)).answer('Hi!');
    await heard.event('turn.completed');
    return store;
  }

  it('begins it without reading, when the log has nothing of it', async () => {
    const rig = new SessionRig();
    await rig.say('hello');
    (await rig.model.call(0)).answer('Hi!');
    expect(rig.store.reads).toBe(0);
    expect(rig.log.lines).toEqual([]);
  });

  it('goes to the one that the log has, once, before what came meanwhile', async () => {
    const store = await withPast();
    const rig = new SessionRig({ store });
    const heard = rig.listen();
    await Promise.all([rig.say('first'), rig.say('second')]);
    (await rig.model.call(0)).answer('1');
    const second = await rig.model.call(1);
    expect(second.request.messages.map(textOf)).toEqual(['hello', 'Hi!', 'first', '1', 'second']);
    second.answer('2');
    await heard.event('turn.completed', 'second');
    const requested = (await rig.logged()).flatMap((event) =>
      event.type === 'turn.requested' ? [event.text] : [],
    );
    expect(requested).toEqual(['hello', 'first', 'second']);
    expect(rig.log.lines).toEqual([]);
  });

  it('is known again by its key', async () => {
    const store = memoryEventStore();
    const key = { id: 'k', fingerprint: 'f', expiresAt: Date.now() + PLENTY_MS };
    await new SessionRig({ store }).registry.startTurn('s', { ...message('original'), key }, CLIENT);
    const repeated = { ...message('repeated'), key };
    expect(await new SessionRig({ store }).registry.startTurn('s', repeated, CLIENT)).toEqual({
      turnId: 'original',
    });
  });

  it('is not recorded twice when it cannot be told whether it was recorded', async () => {
    const rig = new SessionRig();
    rig.store.afterAppend = async () => {
      rig.store.afterAppend = async () => undefined;
      throw new Error('the disk went silent');
    };
    await expect(rig.say('hello')).rejects.toThrow('the disk went silent');
    const requested = (await rig.logged()).filter(({ type }) => type === 'turn.requested');
    expect(requested).toHaveLength(1);
    expect(rig.registry.loaded.size).toBe(0);
  });

  it('leaves a running turn of it alone, and waits behind it', async () => {
    const store = await logOfUnanswered('slow');
    const rig = new SessionRig({ store });
    const heard = rig.listen();
    await rig.say('next');
    (await rig.model.call(0)).answer('at last');
    await heard.event('turn.completed', 'slow');
    expect((await rig.model.call(1)).userText).toBe('next');
  });
});

describe.each([
  ['memory', async () => ({ store: memoryEventStore(), close: async () => undefined })],
  [
    'SQLite',
    async () => {
      const directory = await tempDirectory();
      const store = await openSqliteEventStore({ directory: directory.path, log: recordingLog() });
      const close = async () => {
        await store[Symbol.asyncDispose]();
        await directory[Symbol.asyncDispose]();
      };
      return { store, close };
    },
  ],
] as const)('a session loaded from a log in %s', (_, open) => {
  it('knows the conversation', async () => {
    const { store, close } = await open();
    const before = new SessionRig({ store });
    const heard = before.listen();
    await before.say('hello');
    (await before.model.call(0)).answer('Hi!');
    await heard.event('turn.completed');

    const rig = new SessionRig({ store });
    await rig.say('again');
    expect((await rig.model.call(0)).request.messages).toEqual([
      { role: 'user', text: 'hello' },
      said('Hi!'),
      { role: 'user', text: 'again' },
    ]);
    await rig.registry.drain(NO_TIME);
    await close();
  });

  it('goes on with its open turn: settled calls stay, repeatable ones run again, others are interrupted', async () => {
    const { store, close } = await open();
    const tools = { settled: {}, safe: { repeatable: true }, unsafe: {} };
    const before = new SessionRig({ store, tools: new DirectedTools(tools) });
    const heardBefore = before.listen();
    await before.say('do it');
    const firstCall = await before.model.call(0);
    firstCall.say('Working.');
    firstCall.askFor({ name: 'settled' }, { name: 'safe', arguments: { x: 1 } }, { name: 'unsafe' });
    (await before.tools.call(0)).answer('done before');
    await heardBefore.event('tool-call.succeeded');
    await before.registry.drain(NO_TIME);

    const rig = new SessionRig({ store, tools: new DirectedTools(tools) });
    const heard = rig.listen();
    await rig.registry.session('s');
    const repeated = await rig.tools.call(0);
    expect(repeated).toMatchObject({ toolName: 'safe', arguments: { x: 1 } });
    repeated.answer('done again');
    const { request } = await rig.model.call(0);
    expect(request.messages).toMatchObject([
      { role: 'user', text: 'do it' },
      {
        role: 'assistant',
        parts: [{ text: 'Working.' }, { name: 'settled' }, { name: 'safe' }, { name: 'unsafe' }],
      },
      { role: 'tool', name: 'settled', text: 'done before' },
      { role: 'tool', name: 'safe', text: 'done again' },
      { role: 'tool', name: 'unsafe', text: expect.stringContaining('may or may not have taken effect') },
    ]);
    expect(rig.tools.calls).toHaveLength(1);
    (await rig.model.call(0)).answer('All done.');
    expect(await heard.event('turn.completed')).toMatchObject({ content: 'Working.\n\nAll done.' });
    // What was said before the stop is not streamed again; the separator is.
    expect(heard.text).toBe('\n\nAll done.');
    await close();
  });

  it('makes a model call that was cut off again from its beginning, and counts the attempts', async () => {
    const { store, close } = await open();
    for (const attempt of [1, 2, 3]) {
      const rig = new SessionRig({ store });
      if (attempt === 1) await rig.say('hello');
      else await rig.registry.session('s');
      const call = await rig.model.call(0);
      expect(call.request.messages).toEqual([{ role: 'user', text: 'hello' }]);
      call.say('cut o');
      await rig.registry.drain(NO_TIME);
      expect(call.signal.aborted).toBe(true);
    }
    const events = (await store.read('s', 0)).map(({ event }) => event);
    expect(events.slice(2)).toEqual([
      { type: 'turn.resumed', turnId: 'hello', attempt: 2 },
      { type: 'turn.resumed', turnId: 'hello', attempt: 3 },
    ]);
    await close();
  });

  it('gives the messages that were waiting their turns, in order, before a new one', async () => {
    const { store, close } = await open();
    const before = new SessionRig({ store });
    await Promise.all([before.say('a'), before.say('b'), before.say('c')]);
    await before.registry.drain(NO_TIME);

    const rig = new SessionRig({ store });
    await rig.say('d');
    for (const [index, text] of ['a', 'b', 'c', 'd'].entries()) {
      const call = await rig.model.call(index);
      expect(call.userText).toBe(text);
      call.answer('ok');
    }
    await close();
  });
});

describe('draining', () => {
  it('waits until the running turn and all messages behind it are answered', async () => {
    const rig = new SessionRig();
    await Promise.all([rig.say('a'), rig.say('b')]);
    let drained = false;
    const draining = rig.registry.drain(PLENTY_MS).then(() => {
      drained = true;
    });
    (await rig.model.call(0)).answer('1');
    const second = await rig.model.call(1);
    expect(drained).toBe(false);
    second.answer('2');
    await draining;
    expect(typesOf(await rig.logged()).filter((type) => type === 'turn.completed')).toHaveLength(2);
  });

  it('takes no more messages, and says when to come back', async () => {
    const rig = new SessionRig();
    await rig.registry.drain(PLENTY_MS);
    await expect(rig.say('hello')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { retryAfter: expect.any(Number) },
    });
  });

  it('aborts what is left at the end of its time, and leaves it open in the log', async () => {
    const rig = new SessionRig();
    await rig.say('slow');
    const call = await rig.model.call(0);
    await rig.registry.drain(NO_TIME);
    expect(call.signal.aborted).toBe(true);
    expect(typesOf(await rig.logged())).toEqual(['turn.requested', 'turn.started']);
  });

  it('begins no turn afterwards, though the end of the one before was on its way to the log', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await Promise.all([rig.say('a'), rig.say('b')]);
    const session = await rig.registry.session('s');
    const held = rig.store.holdNext('turn.completed');
    (await rig.model.call(0)).answer('1');
    await held.arrived;
    await rig.registry.drain(NO_TIME);
    held.release();
    await heard.event('turn.started', 'b');
    await session.idle();
    expect(rig.model.calls).toHaveLength(1);
  });

  it('waits for a message that was accepted just before', async () => {
    const rig = new SessionRig();
    const session = await rig.registry.session('s');
    const held = rig.store.holdNext('turn.requested');
    const start = session.startTurn({ type: 'turn.start', turnId: 'a', text: 'a' }, CLIENT);
    await held.arrived;
    const draining = rig.registry.drain(PLENTY_MS);
    held.release();
    await start;
    const call = await rig.model.call(0);
    call.answer('in time');
    await draining;
    expect(typesOf(await rig.logged())).toContain('turn.completed');
  });

  it('does not go on with an open turn of a session that is loaded afterwards', async () => {
    const store = await logOfUnanswered('hello');
    const rig = new SessionRig({ store });
    await rig.registry.drain(PLENTY_MS);
    await (await rig.registry.session('s')).reset(CLIENT);
    expect(rig.model.calls).toEqual([]);
    expect(typesOf(await rig.logged())).toEqual([
      ...['turn.requested', 'turn.started'],
      ...['turn.cancelled', 'session.reset'],
    ]);
  });
});

describe('giving sessions up', () => {
  it('waits for what is on its way to the log, also when the time for its turns is over', async () => {
    const rig = new SessionRig();
    await rig.say('hello');
    const held = rig.store.holdNext('step.completed');
    (await rig.model.call(0)).answer('Hi!');
    await held.arrived;
    const leave = vi.spyOn(await rig.registry.session('s'), 'leave');
    const left: number[] = [];
    const handedOver = rig.registry.handOver(NO_TIME, async (_, seq) => void left.push(seq));
    await expect.poll(() => leave.mock.calls).toHaveLength(1);
    await nextLoop();
    expect(left).toEqual([]);
    held.release();
    await handedOver;
    expect(left).toEqual([(await rig.logged()).length]);
  });

  it('waits for the erasure of one that is deleted: its id may name another session then', async () => {
    const rig = new SessionRig();
    const session = await rig.registry.session('s');
    await session.reset(CLIENT);
    const erasing = Promise.withResolvers<void>();
    const mayErase = Promise.withResolvers<void>();
    rig.store.beforeErase = () => {
      erasing.resolve();
      return mayErase.promise;
    };
    const deleted = rig.registry.delete('s', CLIENT);
    await erasing.promise;
    const leave = vi.spyOn(session, 'leave');
    const left: number[] = [];
    const handedOver = rig.registry.handOver(NO_TIME, async (_, seq) => {
      expect(await rig.logged()).toEqual([]);
      left.push(seq);
    });
    await expect.poll(() => leave.mock.calls.length).toBeGreaterThan(0);
    await nextLoop();
    expect(left).toEqual([]);
    mayErase.resolve();
    await Promise.all([deleted, handedOver]);
    expect(left).toEqual([0]);
  });
});

describe('a session that counts as open although nothing is open in it, as after a repair', () => {
  /** The log of an answered message, whose mark is not as the events are. */
  async function markedOpen(options?: TurnOptions): Promise<EventStore> {
    const store = memoryEventStore();
    const before = new SessionRig({ store });
    await before.say('hello', { ...(options && { options }) });
    (await before.model.call(0)).answer('Hi!');
    await (await before.registry.session('s')).idle();
    await before.registry.drain(PLENTY_MS);
    await store.append('s', (await before.logged()).length, [], { open: true });
    return store;
  }

  it('is not open any more when it was loaded, and has the same events', async () => {
    const store = await markedOpen();
    const events = await store.read('s', 0);
    await new SessionRig({ store }).registry.recover();
    expect(await store.sessions({ open: true })).toEqual([]);
    expect(await store.read('s', 0)).toEqual(events);
  });

  it('stays open while it is to be deleted', async () => {
    const store = await markedOpen({ ephemeral: true });
    await new SessionRig({ store, clock: new SimulatedClock() }).registry.recover();
    expect(await store.sessions({ open: true })).toMatchObject([{ sessionId: 's' }]);
  });
});

describe('an approval while the service stops', () => {
  const approve = { type: 'approval.answer', callId: 'call of waiting', approved: true } as const;

  /** The session `waiting` in which a call waits for approval. */
  async function waiting(store: EventStore = memoryEventStore()): Promise<SessionRig> {
    const tools = new DirectedTools({ pay: {} });
    const rig = new SessionRig({ store, tools, approval: { rules: [], default: 'ask' } });
    const heard = rig.listen('waiting');
    await rig.say('pay', { sessionId: 'waiting' });
    (await rig.model.call(0)).askFor({ name: 'pay', callId: approve.callId });
    await heard.event('approval.requested');
    return rig;
  }

  it('is given time to run its call, also when the other sessions are at rest before it', async () => {
    const rig = await waiting();
    const session = await rig.registry.session('waiting');
    await rig.say('other', { sessionId: 'other' });
    const draining = rig.registry.drain(PLENTY_MS);
    // By then the stop has found the session at rest.
    await nextLoop();
    await session.answer(approve, CLIENT);
    const call = await rig.tools.call(0);
    (await rig.model.call(1)).answer('Done.');
    await (await rig.registry.session('other')).idle();
    call.answer('paid');
    (await rig.model.call(2)).answer('Paid.');
    await draining;
    expect(typesOf(await rig.logged('waiting')).slice(-3)).toEqual([
      ...['tool-call.succeeded', 'step.completed', 'turn.completed'],
    ]);
  });

  it('is refused when nothing would run the call, and can be given again after the next start', async () => {
    const store = memoryEventStore();
    const stopped = await waiting(store);
    const session = await stopped.registry.session('waiting');
    await stopped.registry.drain(PLENTY_MS);
    await expect(session.answer(approve, CLIENT)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(typesOf(await stopped.logged('waiting'))).not.toContain('approval.granted');

    const tools = new DirectedTools({ pay: {} });
    const rig = new SessionRig({ store, tools, approval: { rules: [], default: 'ask' } });
    await rig.registry.recover();
    await (await rig.registry.session('waiting')).answer(approve, CLIENT);
    (await tools.call(0)).answer('paid');
    (await rig.model.call(0)).answer('Paid.');
    await (await rig.registry.session('waiting')).idle();
    expect(typesOf(await rig.logged('waiting'))).toContain('turn.completed');
  });

  it('is refused in a session that is loaded meanwhile', async () => {
    const store = memoryEventStore();
    await (await waiting(store)).registry.drain(NO_TIME);
    const rig = new SessionRig({ store });
    await rig.registry.drain(PLENTY_MS);
    const session = await rig.registry.session('waiting');
    await expect(session.answer(approve, CLIENT)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('may be denied at any time: the next start tells the model', async () => {
    const rig = await waiting();
    const session = await rig.registry.session('waiting');
    await rig.registry.drain(PLENTY_MS);
    await session.answer({ ...approve, approved: false }, CLIENT);
    expect(typesOf(await rig.logged('waiting')).at(-1)).toBe('tool-call.failed');
  });
});

/** Sends a message, answers it, and resolves when the session is at rest. */
async function talkIn(rig: SessionRig, sessionId: string, text: string): Promise<void> {
  const heard = rig.listen(sessionId);
  const index = rig.model.calls.length;
  await rig.say(text, { sessionId, turnId: `${sessionId}-${index}` });
  (await rig.model.call(rig.model.calls.length - 1)).answer('Hi!');
  await heard.event('turn.completed');
  await (await rig.registry.session(sessionId)).settled();
}

describe('a session in which nothing goes on', () => {
  /** A session with one answered turn. */
  async function answered(): Promise<SessionRig> {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    (await rig.model.call(0)).answer('Hi!');
    await heard.event('turn.completed');
    await (await rig.registry.session('s')).idle();
    return rig;
  }

  it('leaves memory, and is found again in the log', async () => {
    const rig = await answered();
    expect(rig.registry.loaded.size).toBe(1);
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.loaded.size).toBe(0);
    const { reads } = rig.store;
    const appended: string[] = [];
    rig.store.beforeAppend = async (events) => void appended.push(...typesOf(events));
    await rig.say('again');
    expect(rig.store.reads).toBe(reads + 1);
    // It was not taken for new.
    expect(appended.filter((type) => type === 'turn.requested')).toHaveLength(1);
    expect((await rig.model.call(1)).request.messages.map(textOf)).toEqual([...['hello', 'Hi!', 'again']]);
  });

  it('leaves memory when others that were used since take its place', async () => {
    let now = 0;
    const sizesWhenTold: number[] = [];
    const onFilling = () => void sizesWhenTold.push(rig.registry.loaded.size);
    const rig = new SessionRig({ maxIdleBytes: 10 * EMPTY_SESSION_BYTES, onFilling, elapsedMs: () => now });
    const talk = async (sessionId: string, text = 'hello'): Promise<void> => {
      now += 10_000;
      await talkIn(rig, sessionId, text);
    };
    const busy = rig.say('take your time', { sessionId: 'busy' });
    await busy;
    for (let index = 0; index < 100; index += 1) {
      await talk(`s${index}`);
      await talk('popular');
      await (await rig.registry.session('popular')).reset(CLIENT);
    }
    // The busy one, and four idle ones, which take half of the memory.
    expect(sizesWhenTold).toEqual([5]);
    expect(rig.registry.loaded.size).toBeGreaterThan(5);
    expect(rig.registry.loaded.size).toBeLessThan(12);
    const { reads } = rig.store;
    await talk('popular');
    expect(rig.store.reads).toBe(reads);
    rig.model.calls[0]?.answer('Done.');
    // A large one takes the place of many.
    await talk('large', 'x'.repeat(7 * EMPTY_SESSION_BYTES));
    expect(rig.registry.loaded.size).toBeLessThan(5);
    await talk('s5');
    const { request } = rig.model.calls.at(-1) ?? {};
    expect(request?.messages.map(textOf)).toEqual(['hello', 'Hi!', 'hello']);
  });

  it('leaves memory a moment later when it is pushed out right after its use', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const rig = new SessionRig({ maxIdleBytes: 2 * EMPTY_SESSION_BYTES });
    const talk = (sessionId: string, text: string) => talkIn(rig, sessionId, text);
    for (const name of ['a', 'b', 'c']) await talk(name, 'hello');
    // One that is larger than all of this memory leaves, too, when another one rests.
    await talk('large', 'x'.repeat(5 * EMPTY_SESSION_BYTES));
    await talk('d', 'hello');
    expect(rig.registry.loaded.size).toBe(5);
    vi.advanceTimersByTime(1_000);
    expect(rig.registry.loaded.size).toBe(1);
  });

  it('counts with what it has grown to since it came to rest for the first time', async () => {
    let now = 0;
    const rig = new SessionRig({ maxIdleBytes: 10 * EMPTY_SESSION_BYTES, elapsedMs: () => now });
    const talk = async (sessionId: string, text: string): Promise<void> => {
      now += 10_000;
      await talkIn(rig, sessionId, text);
    };
    for (const name of ['a', 'b', 'c']) {
      await talk(name, 'hello');
      await talk(name, 'x'.repeat(4 * EMPTY_SESSION_BYTES));
    }
    expect(rig.registry.loaded.size).toBe(1);
  });

  it('leaves memory also when the clock was set back since it was used', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const rig = await answered();
    vi.setSystemTime(Date.now() - 3_600_000);
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.loaded.size).toBe(0);
  });

  it('stays while it was used a moment ago', async () => {
    const rig = await answered();
    rig.registry.loaded.evictIdle(PLENTY_MS);
    expect(rig.registry.loaded.size).toBe(1);
  });

  it('stays while a turn runs, while it loads, and while something is on its way to its log', async () => {
    const rig = await answered();
    const loading = rig.registry.session('loading');
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.loaded.size).toBe(1);
    expect(await rig.registry.session('loading')).toBe(await loading);

    const held = rig.store.holdNext('turn.requested');
    const said = rig.say('on its way');
    await held.arrived;
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.loaded.size).toBe(1);
    held.release();
    await said;
    await rig.model.callFor('on its way');
    rig.registry.loaded.evictIdle(0);
    expect(rig.registry.loaded.size).toBe(1);
    await rig.registry.drain(NO_TIME);
  });
});

describe('a fork under way', () => {
  it('is whole before anybody has it, and no turn of its past goes on in it', async () => {
    const rig = new SessionRig();
    await rig.say('hello');
    await rig.model.call(0);
    const held = rig.store.holdNext('session.forked');
    const fork = rig.registry.fork({ from: 's', at: 2, to: 'fork' }, CLIENT);
    await held.arrived;
    const during = rig.registry.session('fork');
    const another = expect(rig.registry.fork({ from: 's', at: 2, to: 'fork' }, CLIENT)).rejects.toMatchObject(
      {
        code: 'INVALID_REQUEST',
      },
    );
    held.release();
    expect(await during).toBe(await fork);
    await another;
    expect(typesOf(await rig.logged('fork'))).toEqual([
      ...['turn.requested', 'turn.started', 'turn.cancelled', 'session.forked'],
    ]);
    expect(rig.model.calls).toHaveLength(1);
    await rig.registry.drain(NO_TIME);
  });

  it('copies the session that it was asked for, also if that one is deleted and begun again meanwhile', async () => {
    const rig = new SessionRig();
    await rig.say('hello');
    await rig.model.call(0);
    const held = rig.store.holdNext('session.forked');
    const fork = rig.registry.fork({ from: 's', at: 2, to: 'fork' }, CLIENT);
    await held.arrived;
    const next = rig.registry.delete('s', CLIENT).then(() => rig.say('another session'));
    // More turns of the event loop than a deletion and a message take.
    for (let round = 0; round < 50; round += 1) await new Promise(setImmediate);
    held.release();
    await fork;
    await next;
    const texts = (await rig.logged('fork')).flatMap((event) =>
      event.type === 'turn.requested' ? [event.text] : [],
    );
    expect(texts).toEqual(['hello']);
    await rig.registry.drain(NO_TIME);
  });

  it('is waited for by a message to it, which then follows its past', async () => {
    const rig = new SessionRig();
    await rig.say('hello');
    (await rig.model.call(0)).answer('Hi!');
    await (await rig.registry.session('s')).idle();
    const fork = rig.registry.fork({ from: 's', at: 4, to: 'fork' }, CLIENT);
    await rig.say('and then?', { sessionId: 'fork' });
    expect(await rig.registry.session('fork')).toBe(await fork);
    const { request } = await rig.model.callFor('and then?');
    expect(request.messages.map(textOf)).toEqual(['hello', 'Hi!', 'and then?']);
    expect(rig.model.calls).toHaveLength(2);
    await rig.registry.drain(NO_TIME);
  });

  it('that fails leaves the id to the message that has waited for it', async () => {
    const rig = new SessionRig();
    await rig.say('hello');
    rig.store.refuseNext('session.forked', new Error('disk full'));
    const fork = expect(rig.registry.fork({ from: 's', at: 2, to: 'fork' }, CLIENT)).rejects.toThrow(
      'disk full',
    );
    await rig.say('anybody?', { sessionId: 'fork' });
    await fork;
    expect(typesOf(await rig.logged('fork'))).toEqual(['turn.requested', 'turn.started']);
    await rig.registry.drain(NO_TIME);
  });
});

describe('a fork whose end the log has not confirmed', () => {
  it('is loaded from the log by whoever asks for it next', async () => {
    const log = memoryEventStore();
    const store: EventStore = {
      ...keptOpen(log),
      fork: async (...fork) => {
        await log.fork(...fork);
        throw new StorageAwayError('the answer was lost', { mayBeStored: true });
      },
    };
    const rig = new SessionRig({ store });
    await rig.say('hello');
    (await rig.model.call(0)).answer('Hi!');
    await (await rig.registry.session('s')).idle();
    const fork = rig.registry.fork({ from: 's', at: 4, to: 'fork' }, CLIENT);
    await expect(fork).rejects.toMatchObject({ mayBeStored: true });
    const { length: head } = await rig.logged('fork');
    expect(head).toBeGreaterThan(4);
    expect(await rig.registry.position('fork')).toMatchObject({ head });
    await rig.say('and then?', { sessionId: 'fork' });
    const { request } = await rig.model.callFor('and then?');
    expect(request.messages.map(textOf)).toEqual(['hello', 'Hi!', 'and then?']);
    await rig.registry.drain(NO_TIME);
  });
});

describe('a session that is being deleted', () => {
  it('stays in memory until it is erased, so that nobody loads it a second time meanwhile', async () => {
    const log = memoryEventStore();
    const erasing = Promise.withResolvers<void>();
    const mayErase = Promise.withResolvers<void>();
    const store: EventStore = {
      ...keptOpen(log),
      erase: async (...sessionIds) => {
        erasing.resolve();
        await mayErase.promise;
        await log.erase(...sessionIds);
      },
    };
    const rig = new SessionRig({ store });
    const session = await rig.registry.session('s');
    await rig.say('hello');
    const deleted = rig.registry.delete('s', CLIENT);
    await erasing.promise;
    rig.registry.loaded.evictIdle(0);
    expect(await rig.registry.session('s')).toBe(session);
    mayErase.resolve();
    await deleted;
    expect(await rig.registry.session('s')).not.toBe(session);
  });
});

describe('a session whose deletion was cut off', () => {
  it('has one actor when it is used while the deletion is finished', async () => {
    const store = memoryEventStore();
    await store.append('s', 0, [{ type: 'session.reset' }, { type: 'session.deleted' }], { open: true });
    const rig = new SessionRig({ store });
    const first = await rig.registry.session('s');
    expect(await rig.registry.session('s')).toBe(first);
    expect(first.state.seq).toBe(0);
  });

  it('is erased by the next use when the log would not at first', async () => {
    const log = memoryEventStore();
    let refusals = 1;
    const store: EventStore = {
      ...keptOpen(log),
      erase: async (sessionId) => {
        refusals -= 1;
        if (refusals >= 0) throw new Error('disk full');
        await log.erase(sessionId);
      },
    };
    const rig = new SessionRig({ store });
    await (await rig.registry.session('s')).reset(CLIENT);
    await expect(rig.registry.delete('s', CLIENT)).rejects.toThrow('disk full');
    expect((await log.read('s', 0)).at(-1)?.event.type).toBe('session.deleted');
    expect((await rig.registry.session('s')).state.seq).toBe(0);
    expect(await log.read('s', 0)).toEqual([]);
  });

  it('has what else belongs to it forgotten before its events are erased, and again afterwards', async () => {
    const events: number[] = [];
    const rig: SessionRig = new SessionRig({
      alsoForget: async (sessionId) => void events.push((await rig.logged(sessionId)).length),
    });
    await (await rig.registry.session('s')).reset(CLIENT);
    await rig.registry.delete('s', CLIENT);
    expect(events).toEqual([2, 0]);
  });

  it('is erased a moment later when the log would not at first and nobody uses it', async () => {
    const clock = new SimulatedClock();
    const rig = new SessionRig({ clock });
    await (await rig.registry.session('s')).reset(CLIENT);
    rig.store.beforeErase = () => Promise.reject(new Error('disk full'));
    await expect(rig.registry.delete('s', CLIENT)).rejects.toThrow('disk full');
    clock.increment(MAX_RETRY_MS);
    await eventually(
      async () => rig.log.lines.length,
      (lines) => lines > 0,
    );
    rig.store.beforeErase = async () => undefined;
    await eventually(
      async () => {
        clock.increment(MAX_RETRY_MS);
        return await rig.logged();
      },
      (events) => events.length === 0,
    );
  });
});
