import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../src/contract/events.ts';
import { type EventStore, StaleVersionError } from '../../src/ports/event-store.ts';

/** Holds an adapter to the promises written at `EventStore`. `open` gives a store without any event. */
export function eventStoreSuite(name: string, open: () => Promise<EventStore>): void {
  describe(`${name} keeps the promises of an event store`, () => {
    let store: EventStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(async () => {
      await store[Symbol.asyncDispose]();
    });

    describe('append', () => {
      it('numbers the events of a session 1, 2, 3 … over all appends', async () => {
        const first = await store.append('s', 0, [started('a'), started('b')]);
        const second = await store.append('s', 2, [started('c')]);
        expect([...first, ...second].map(({ seq }) => seq)).toEqual([1, 2, 3]);
        expect(await store.read('s', 0)).toEqual([...first, ...second]);
      });

      it('gives back envelopes with the session, the event, and the time of the append', async () => {
        const before = Date.now();
        const [envelope] = await store.append('s', 0, [started('a')]);
        expect(envelope).toEqual({
          sessionId: 's',
          seq: 1,
          time: expect.any(Number),
          event: { type: 'turn.started', turnId: 'a' },
        });
        expect(envelope?.time).toBeGreaterThanOrEqual(before);
        expect(envelope?.time).toBeLessThanOrEqual(Date.now());
      });

      it.each([
        ['behind', 1],
        ['ahead', 3],
      ])('refuses an expected seq that is %s, and leaves no trace of it', async (_, expected) => {
        const stored = await store.append('s', 0, [started('a'), started('b')]);
        const refused = store.append('s', expected, [started('x'), started('y')]);
        await expect(refused).rejects.toThrow(StaleVersionError);
        await expect(refused).rejects.toMatchObject({ sessionId: 's', expected, actual: 2 });
        expect(await store.read('s', 0)).toEqual(stored);
      });

      it('refuses an expected seq above 0 for a session without events', async () => {
        await expect(store.append('s', 1, [started('a')])).rejects.toMatchObject({ expected: 1, actual: 0 });
        expect(await store.read('s', 0)).toEqual([]);
      });

      it('checks the expected seq of an append without events, and stores nothing', async () => {
        await store.append('s', 0, [started('a')]);
        expect(await store.append('s', 1, [])).toEqual([]);
        await expect(store.append('s', 0, [])).rejects.toThrow(StaleVersionError);
        expect(await seqs(store, 's')).toEqual([1]);
      });

      it('lets exactly one of many racing appends win', async () => {
        const racers = Array.from({ length: 50 }, (_, index) => `racer-${index}`);
        const results = await Promise.allSettled(racers.map((id) => store.append('s', 0, [started(id)])));
        const won = results.filter((result) => result.status === 'fulfilled');
        const lost = results.filter((result) => result.status === 'rejected');
        expect(won).toHaveLength(1);
        expect(lost.every(({ reason }) => reason instanceof StaleVersionError)).toBe(true);
        expect(await store.read('s', 0)).toEqual(won[0]?.value);
      });

      it('takes appends to one session in the order of the calls, without waiting in between', async () => {
        const calls = Array.from({ length: 20 }, (_, seq) => store.append('s', seq, [started(`t${seq}`)]));
        const stored = (await Promise.all(calls)).flat();
        expect(stored.map(({ seq }) => seq)).toEqual(calls.map((_, index) => index + 1));
        expect(await store.read('s', 0)).toEqual(stored);
      });

      it('stores none of the events when one cannot be stored, and goes on with the next append', async () => {
        const cyclic: Record<string, unknown> = {};
        cyclic.self = cyclic;
        const broken = store.append('s', 0, [started('a'), requestedWith(cyclic)]);
        const neighbour = store.append('other', 0, [started('n')]);
        await expect(broken).rejects.toThrow();
        expect(await neighbour).toHaveLength(1);
        expect(await store.read('s', 0)).toEqual([]);
        expect(await store.append('s', 0, [started('b')])).toHaveLength(1);
        expect(await seqs(store, 's')).toEqual([1]);
      });

      it('refuses one stale append without harm to those that were called with it', async () => {
        const results = await Promise.allSettled([
          store.append('a', 0, [started('1')]),
          store.append('b', 7, [started('2')]),
          store.append('a', 1, [started('3')]),
          store.append('c', 0, [started('4')]),
        ]);
        expect(results.map(({ status }) => status)).toEqual([
          'fulfilled',
          'rejected',
          'fulfilled',
          'fulfilled',
        ]);
        expect(await seqs(store, 'a')).toEqual([1, 2]);
        expect(await seqs(store, 'b')).toEqual([]);
        expect(await seqs(store, 'c')).toEqual([1]);
      });

      it('keeps what was appended when the caller changes the object later', async () => {
        const args: Record<string, unknown> = { city: 'Köln' };
        const appended = store.append('s', 0, [requestedWith(args)]);
        args.city = 'elsewhere';
        await appended;
        expect((await store.read('s', 0))[0]?.event).toMatchObject({ arguments: { city: 'Köln' } });
      });
    });

    describe('read', () => {
      it('gives nothing for a session it has never seen', async () => {
        expect(await store.read('nobody', 0)).toEqual([]);
      });

      it.each([
        { after: 0, limit: undefined, expected: [1, 2, 3, 4, 5] },
        { after: 2, limit: undefined, expected: [3, 4, 5] },
        { after: 5, limit: undefined, expected: [] },
        { after: 99, limit: undefined, expected: [] },
        { after: 0, limit: 2, expected: [1, 2] },
        { after: 3, limit: 1, expected: [4] },
        { after: 3, limit: 9, expected: [4, 5] },
        { after: 0, limit: 0, expected: [] },
      ])('gives seq $expected after $after with limit $limit', async ({ after, limit, expected }) => {
        await store.append('s', 0, ['a', 'b', 'c', 'd', 'e'].map(started));
        const envelopes = await store.read('s', after, limit);
        expect(envelopes.map(({ seq }) => seq)).toEqual(expected);
      });

      it('sees every append that had resolved before the call', async () => {
        for (let seq = 0; seq < 20; seq += 1) {
          const [appended] = await store.append('s', seq, [started(`t${seq}`)]);
          expect(await store.read('s', seq)).toEqual([appended]);
        }
      });

      it('gives a long session whole and in order, and any part of it', async () => {
        const turnIds = Array.from({ length: 2500 }, (_, index) => `t${index + 1}`);
        await store.append('s', 0, turnIds.map(started));
        const all = await store.read('s', 0);
        expect(all.map(({ seq }) => `t${seq}`)).toEqual(turnIds);
        expect(all.map(({ event }) => event)).toEqual(turnIds.map(started));
        expect(await store.read('s', 700, 1500)).toEqual(all.slice(700, 2200));
      });
    });

    describe('sessions', () => {
      it('are independent of each other', async () => {
        await store.append('a', 0, [started('a1'), started('a2')]);
        await store.append('b', 0, [started('b1')]);
        expect((await store.read('a', 0)).map(({ event }) => event)).toEqual([started('a1'), started('a2')]);
        expect((await store.read('b', 0)).map(({ event }) => event)).toEqual([started('b1')]);
      });

      it.each([
        ['default', 'Default'],
        ['a', 'a:b'],
        ['1', '01'],
        ['__proto__', 'constructor'],
        ['user@example.com:7', 'user@example.com:70'],
        ['_', '-'],
        ['x'.repeat(127), 'x'.repeat(128)],
      ])('named %s and %s are two', async (one, other) => {
        await store.append(one, 0, [started('one')]);
        await store.append(other, 0, [started('other')]);
        expect((await store.read(one, 0)).map(({ event }) => event)).toEqual([started('one')]);
        expect((await store.read(other, 0)).map(({ event }) => event)).toEqual([started('other')]);
      });

      it('append by the hundred at once, each in its own order', async () => {
        const sessions = Array.from({ length: 200 }, (_, index) => `session-${index}`);
        const steps = Array.from({ length: 5 }, (_, seq) => seq);
        const run = async (id: string) => {
          for (const seq of steps) await store.append(id, seq, [started(`${id}/${seq}`)]);
          return (await store.read(id, 0)).map(({ event }) => event);
        };
        const stored = await Promise.all(sessions.map(run));
        expect(stored).toEqual(sessions.map((id) => steps.map((seq) => started(`${id}/${seq}`))));
      });
    });

    describe('events', () => {
      it.each([
        ['emoji and combining marks', '👩‍👩‍👧‍👦 Zoë Zoë n̈ 漢字 עברית'],
        ['control characters', '\u0000\u0001\u001f\u007f\u2028\u2029\r\n\t'],
        ['half a surrogate pair', 'before \ud83d after \udc4b'],
        ['what could be taken for syntax', `'"\\); DROP TABLE events; -- $1 ? :x {"a":[1]}`],
        ['nothing', ''],
      ])('keep %s', async (_, content) => {
        await store.append('s', 0, [said(content)]);
        expect((await store.read('s', 0))[0]?.event).toEqual(said(content));
      });

      it('keep five megabytes to the last character', async () => {
        const content = 'é👋\u0000\\"x'.repeat(700_000);
        const base64 = Buffer.alloc(3_750_000, 'image').toString('base64');
        const image = { base64, mimeType: 'image/png' } as const;
        await store.append('s', 0, [
          said(content),
          { type: 'turn.requested', turnId: 't', text: '', image },
          said(content),
        ]);
        const [first, second, third] = (await store.read('s', 0)).map(({ event }) => event);
        // Compared by hand: a difference would print megabytes.
        expect(first?.type === 'turn.completed' && first.content === content).toBe(true);
        expect(second?.type === 'turn.requested' && second.image?.base64 === base64).toBe(true);
        expect(third?.type === 'turn.completed' && third.content === content).toBe(true);
      });

      it('keep nested values as they were', async () => {
        const args = { list: [1, 2.5, -0.1, 1e21, null, true, [], {}], deep: { er: { '': ['x'] } } };
        await store.append('s', 0, [requestedWith(args)]);
        expect((await store.read('s', 0))[0]?.event).toEqual(requestedWith(args));
      });
    });

    describe('dispose', () => {
      it('finishes the appends and reads that were begun', async () => {
        await store.append(
          's',
          0,
          Array.from({ length: 1200 }, (_, index) => started(`t${index}`)),
        );
        const appended = [0, 1, 2].map((seq) => store.append('new', seq, [started('x')]));
        const read = store.read('s', 0);
        await store[Symbol.asyncDispose]();
        expect((await Promise.all(appended)).flat().map(({ seq }) => seq)).toEqual([1, 2, 3]);
        expect(await read).toHaveLength(1200);
      });

      it('may be called twice, also at once', async () => {
        await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
        await expect(store[Symbol.asyncDispose]()).resolves.toBeUndefined();
      });

      it('refuses appends and reads that come later', async () => {
        await store[Symbol.asyncDispose]();
        await expect(store.append('s', 0, [started('a')])).rejects.toThrow('closed');
        await expect(store.read('s', 0)).rejects.toThrow('closed');
      });
    });
  });
}

function started(turnId: string): SessionEvent {
  return { type: 'turn.started', turnId };
}

function said(content: string): SessionEvent {
  return { type: 'turn.completed', turnId: 't', content };
}

function requestedWith(args: Record<string, unknown>): SessionEvent {
  return {
    type: 'tool-call.requested',
    turnId: 't',
    callId: 'c',
    toolName: 'weather',
    serverId: null,
    name: 'weather',
    arguments: args,
    repeatable: true,
  };
}

async function seqs(store: EventStore, sessionId: string): Promise<number[]> {
  return (await store.read(sessionId, 0)).map(({ seq }) => seq);
}
