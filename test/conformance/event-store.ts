import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/core/log/envelope.ts';
import type { Origin } from '../../src/core/log/event-metadata.ts';
import type { LoggedEvent, SessionEvent } from '../../src/core/log/events.ts';
import {
  type AdoptedEvent,
  type EventStore,
  PAGE_CHARACTERS,
  StaleVersionError,
} from '../../src/ports/event-store.ts';

const ADA: Origin = { actor: { kind: 'client', principal: 'ada' }, causationId: 'asked by ada' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

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

    describe('probe', () => {
      it('resolves while the store can be written, and leaves no session', async () => {
        await store.append('s', 0, [started('a')]);
        await store.probe();
        expect(await seqs(store, 's')).toEqual([1]);
        expect((await store.sessions()).map(({ sessionId }) => sessionId)).toEqual(['s']);
        expect(await store.append('s', 1, [started('b')])).toMatchObject([{ seq: 2 }]);
      });

      it('rejects when the store is closed', async () => {
        await store[Symbol.asyncDispose]();
        await expect(store.probe()).rejects.toThrow('closed');
      });
    });

    describe('size', () => {
      it('counts the events that are stored, through every kind of change', async () => {
        expect(await store.size()).toMatchObject({ events: 0 });
        await store.append('s', 0, [started('a'), started('b')]);
        expect(await store.size()).toMatchObject({ events: 2 });
        await store.append('s', 2, [], { open: true });
        await expect(store.append('s', 9, [started('x')])).rejects.toThrow(StaleVersionError);
        await store.append('t', 0, [started('c')]);
        await store.fork('s', 1, 'copy', [started('d')]);
        expect(await store.size()).toMatchObject({ events: 5 });
        await store.adopt('adopted', elsewhere(['e', 'f', 'g']));
        expect(await store.size()).toMatchObject({ events: 8 });
        await store.erase('s', 't', 'unknown');
        expect(await store.size()).toMatchObject({ events: 5 });
      });

      it('rejects when the store is closed', async () => {
        await store[Symbol.asyncDispose]();
        await expect(store.size()).rejects.toThrow('closed');
      });
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
          meta: null,
        });
        expect(envelope?.time).toBeGreaterThanOrEqual(before);
        expect(envelope?.time).toBeLessThanOrEqual(Date.now());
      });

      it('gives each event metadata where it has an origin, and reads it as it was told', async () => {
        const events = [completed('a'), completed('b'), { type: 'session.reset' } as const];
        const appended = await store.append('s', 0, events, { origin: ADA });
        expect(appended.map(({ meta }) => meta)).toStrictEqual(
          ['a', 'b', ADA.causationId].map((correlationId) => ({
            id: expect.stringMatching(UUID),
            actor: ADA.actor,
            causationId: ADA.causationId,
            correlationId,
          })),
        );
        expect(new Set(appended.map(({ meta }) => meta?.id)).size).toBe(3);
        expect(await store.read('s', 0)).toStrictEqual(appended);
        const [without] = await store.append('s', 3, [started('c')]);
        expect(without?.meta).toBeNull();
        expect(await store.read('s', 3)).toStrictEqual([without]);
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

    describe('an addendum', () => {
      const origin = { actor: { kind: 'agent' }, causationId: 'cause' } as const;

      it('is stored with its append and given back with it, or is not asked for', async () => {
        const asked: unknown[] = [];
        const appended = await store.append('added', 0, [started('a')], {
          open: true,
          title: 'kept',
          origin,
          addendum: (recorded) => {
            asked.push(...recorded);
            return { events: [started('b'), started('c')], origin, open: false };
          },
        });
        const first = { sessionId: 'added', seq: 1, event: started('a') };
        const more = ['b', 'c'].map((turnId, index) => ({ seq: 2 + index, event: started(turnId) }));
        expect(appended).toMatchObject(asked.length === 0 ? [first] : [first, ...more]);
        expect(await store.read('added', 0)).toEqual(appended);
        expect(new Set(appended.map(({ meta }) => meta?.id)).size).toBe(appended.length);
        expect(await store.sessions({ sessionId: 'added' })).toMatchObject([
          { head: appended.length, open: asked.length === 0, title: 'kept' },
        ]);
      });

      it('that is null leaves the append as it is', async () => {
        const options = { open: true, origin, addendum: () => null };
        expect(await store.append('alone', 0, [started('a')], options)).toHaveLength(1);
        expect(await store.sessions({ sessionId: 'alone' })).toMatchObject([{ head: 1, open: true }]);
      });

      it('is not stored with an append that is refused', async () => {
        await store.append('stale', 0, [started('a')]);
        const addendum = () => ({ events: [started('c')], origin, open: false });
        await expect(store.append('stale', 7, [started('b')], { origin, addendum })).rejects.toMatchObject({
          actual: 1,
        });
        expect(await store.read('stale', 0)).toHaveLength(1);
      });

      it('that cannot be made fails its append, and no other', async () => {
        const addendum = () => {
          throw new Error('no addendum');
        };
        const failed = store.append('failed', 0, [started('a')], { origin, addendum });
        const other = store.append('other', 0, [started('a')]);
        await expect(failed).rejects.toThrow('no addendum');
        expect(await other).toHaveLength(1);
        expect(await store.read('failed', 0)).toEqual([]);
        expect(await store.append('failed', 0, [started('b')])).toMatchObject([{ seq: 1 }]);
      });

      it('keeps appends to one session in the order of the calls', async () => {
        const options = { origin, addendum: () => null };
        const appends = Array.from({ length: 40 }, (_, seq) =>
          store.append('in order', seq, [started(`t${seq}`)], seq % 3 === 1 ? options : { origin }),
        );
        expect((await Promise.all(appends)).map(([envelope]) => envelope?.seq)).toEqual(
          Array.from({ length: 40 }, (_, seq) => seq + 1),
        );
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
        const pages = await Array.fromAsync(store.pages('s', 700, 1500));
        expect(pages.flat()).toEqual(all.slice(700, 2200));
      });
    });

    describe('pages', () => {
      const large = (turnId: string, characters: number): SessionEvent => ({
        type: 'turn.completed',
        turnId,
        content: 'é'.repeat(characters),
      });

      it('gives none of a session it has never seen, and none where there is nothing', async () => {
        await store.append('s', 0, [started('a')]);
        expect(await Array.fromAsync(store.pages('nobody', 0))).toEqual([]);
        expect(await Array.fromAsync(store.pages('s', 1))).toEqual([]);
        expect(await Array.fromAsync(store.pages('s', 0, 0))).toEqual([]);
      });

      it('ends a page with the event that makes it too long, and gives all of them', async () => {
        const lengths = [10, 400_000, 400_000, 400_000, 10, 2_000_000, 10, 10];
        const events = lengths.map((length, index) => large(`t${index + 1}`, length));
        await store.append('s', 0, events);
        const pages = await Array.fromAsync(store.pages('s', 1));
        expect(pages.flat().map(({ event }) => event)).toEqual(events.slice(1));
        expect(pages.flat().map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7, 8]);
        // Characters or bytes: at least two pages, none with anything after what has made it too long.
        for (const page of pages)
          expect(lengthOf(page.slice(0, -1).map(({ event }) => event))).toBeLessThan(PAGE_CHARACTERS);
        const some = await Array.fromAsync(store.pages('s', 1, 5));
        expect(some.flat().map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6]);
      });

      it('reads a page when it is asked for, so that it has what was appended meanwhile', async () => {
        const long = large('a', 1_000_000);
        await store.append('s', 0, [long, long]);
        const pages = store.pages('s', 0)[Symbol.asyncIterator]();
        expect(seqsOf(await pages.next())).toEqual([1]);
        await store.append('s', 2, [started('b')]);
        expect(seqsOf(await pages.next())).toEqual([2]);
        expect(seqsOf(await pages.next())).toEqual([3]);
        expect((await pages.next()).done).toBe(true);
      });
    });

    describe('a list of sessions', () => {
      it('has head, times and mark of each, in the order of the ids', async () => {
        const before = Date.now();
        await store.append('b', 0, [started('1'), started('2')], { open: true });
        await store.append('B', 0, [started('1')]);
        await store.append('a', 0, [started('1')], { open: false });
        const after = Date.now();
        const listed = await store.sessions();
        expect(listed.map(({ sessionId, head, open }) => ({ sessionId, head, open }))).toEqual([
          { sessionId: 'B', head: 1, open: false },
          { sessionId: 'a', head: 1, open: false },
          { sessionId: 'b', head: 2, open: true },
        ]);
        for (const { createdAt, updatedAt } of listed) {
          expect(createdAt).toBeGreaterThanOrEqual(before);
          expect(updatedAt).toBeLessThanOrEqual(after);
          expect(updatedAt).toBe(createdAt);
        }
      });

      it('has the title of the last mark that has one', async () => {
        const titleOf = async (sessionId: string) => (await store.sessions({ sessionId }))[0]?.title;
        await store.append('s', 0, [started('1')], { title: 'Zoë 👋' });
        expect(await titleOf('s')).toBe('Zoë 👋');
        await store.append('s', 1, [started('2')], { open: true });
        expect(await titleOf('s')).toBe('Zoë 👋');
        await store.append('s', 2, [started('3')], { title: 'other' });
        await expect(store.append('s', 2, [started('4')], { title: 'refused' })).rejects.toThrow();
        expect((await store.sessions()).map(({ title }) => title)).toEqual(['other']);
        await store.append('s', 3, [started('4')], { title: null });
        expect((await store.sessions())[0]).not.toHaveProperty('title');
      });

      it('has the titles that a fork and an adoption are given, and none once the session is erased', async () => {
        await store.append('s', 0, [started('1')], { title: 'a' });
        await store.fork('s', 1, 'f', [], { title: 'b' });
        await store.fork('s', 1, 'g');
        const mark = { open: false, title: 'c' };
        await store.adopt(
          'h',
          (async function* (): AsyncGenerator<AdoptedEvent> {
            yield { time: 1_000, event: started('1'), mark: { open: false } };
            yield { time: 1_000, event: started('2'), mark };
          })(),
        );
        const titles = (await store.sessions()).map(({ sessionId, title }) => [sessionId, title]);
        expect(titles).toEqual([
          ['f', 'b'],
          ['g', undefined],
          ['h', 'c'],
          ['s', 'a'],
        ]);
        await store.erase('s', 'h');
        await store.append('s', 0, [started('1')]);
        expect((await store.sessions({ sessionId: 's' }))[0]).not.toHaveProperty('title');
      });

      it('may have their ids alone, some at a time', async () => {
        for (const id of ['b', 'a', 'B', 'c', '~service']) await store.append(id, 0, [started('1')]);
        expect(await store.streamIds('', 10)).toEqual(['B', 'a', 'b', 'c', '~service']);
        expect(await store.streamIds('', 2)).toEqual(['B', 'a']);
        expect(await store.streamIds('a', 2)).toEqual(['b', 'c']);
        expect(await store.streamIds('~service', 2)).toEqual([]);
        await store.erase('b');
        expect(await store.streamIds('a', 1)).toEqual(['c']);
      });

      it('is empty without sessions, and without the session of an append that was refused', async () => {
        expect(await store.sessions()).toEqual([]);
        await expect(store.append('s', 4, [started('a')], { open: true })).rejects.toThrow(StaleVersionError);
        expect(await store.append('s', 0, [], { open: true })).toEqual([]);
        expect(await store.sessions()).toEqual([]);
      });

      it('gives the one that is asked for, if it is there and is as asked', async () => {
        for (const id of ['a', 'b', 'c']) await store.append(id, 0, [started('1')], { open: id === 'b' });
        const [, b] = await store.sessions();
        expect(await store.sessions({ sessionId: 'b' })).toEqual([b]);
        expect(await store.sessions({ sessionId: 'b', open: true, after: 'a', limit: 1 })).toEqual([b]);
        for (const filter of [{ sessionId: 'bb' }, { sessionId: 'a', open: true }]) {
          expect(await store.sessions(filter)).toEqual([]);
        }
        for (const filter of [{ after: 'b' }, { limit: 0 }, { open: false }]) {
          expect(await store.sessions({ ...filter, sessionId: 'b' })).toEqual([]);
        }
      });

      it('keeps the time of the first append, and takes that of the last', async () => {
        const [first] = await store.append('s', 0, [started('a')]);
        let [last] = await store.append('s', 1, [started('b')]);
        for (let seq = 2; last?.time === first?.time; seq += 1) {
          [last] = await store.append('s', seq, [started('c')]);
        }
        expect(await store.sessions()).toMatchObject([{ createdAt: first?.time, updatedAt: last?.time }]);
      });

      it.each([
        { marks: [undefined], open: false },
        { marks: [true], open: true },
        { marks: [true, undefined], open: true },
        { marks: [true, false], open: false },
        { marks: [true, false, undefined, true], open: true },
      ])('says open is $open after the marks $marks', async ({ marks, open }) => {
        for (const [seq, mark] of marks.entries()) {
          await store.append('s', seq, [started('a')], mark === undefined ? undefined : { open: mark });
        }
        expect(await store.sessions()).toMatchObject([{ sessionId: 's', open }]);
        expect(await store.sessions({ open })).toHaveLength(1);
        expect(await store.sessions({ open: !open })).toEqual([]);
      });

      it('takes the mark of an append without events, and no other time from it', async () => {
        await store.append('s', 0, [started('a')], { open: true });
        const [before] = await store.sessions();
        await store.append('s', 1, [], { open: false });
        expect(await store.sessions()).toEqual([{ ...before, open: false }]);
      });

      it('leaves the mark as it was when the append is refused', async () => {
        await store.append('s', 0, [started('a')], { open: true });
        await expect(store.append('s', 0, [started('b')], { open: false })).rejects.toThrow(
          StaleVersionError,
        );
        expect(await store.sessions({ open: true })).toHaveLength(1);
      });

      it.each([
        { filter: {}, expected: ['s1', 's2', 's3', 's4', 's5'] },
        { filter: { open: true }, expected: ['s2', 's4'] },
        { filter: { open: false }, expected: ['s1', 's3', 's5'] },
        { filter: { after: 's2' }, expected: ['s3', 's4', 's5'] },
        { filter: { after: 's2x' }, expected: ['s3', 's4', 's5'] },
        { filter: { after: 's5' }, expected: [] },
        { filter: { limit: 2 }, expected: ['s1', 's2'] },
        { filter: { limit: 0 }, expected: [] },
        { filter: { open: true, after: 's2', limit: 9 }, expected: ['s4'] },
        { filter: { open: false, after: 's1', limit: 1 }, expected: ['s3'] },
      ])('with $filter has $expected', async ({ filter, expected }) => {
        const ids = ['s3', 's1', 's5', 's2', 's4'];
        await Promise.all(
          ids.map((id) => store.append(id, 0, [started('a')], { open: Number(id[1]) % 2 === 0 })),
        );
        expect((await store.sessions(filter)).map(({ sessionId }) => sessionId)).toEqual(expected);
      });
    });

    describe('fork', () => {
      beforeEach(async () => {
        await store.append('from', 0, ['a', 'b', 'c'].map(started), { open: true, origin: ADA });
      });

      it.each([1, 2, 3])('at %i begins a session with copies of the events up to there', async (at) => {
        await store.fork('from', at, 'to');
        const original = await store.read('from', 0);
        expect(await store.read('to', 0)).toEqual(
          original.slice(0, at).map((envelope) => ({ ...envelope, sessionId: 'to' })),
        );
        expect(original).toHaveLength(3);
        // The service starts a turn that was not requested in the same append.
        expect(original.map(({ meta }) => meta?.actor)).toEqual(Array(3).fill({ kind: 'service' }));
      });

      it('gives the closing events metadata where they have an origin', async () => {
        const origin: Origin = { actor: { kind: 'service' }, causationId: 'of the fork' };
        await store.fork('from', 3, 'to', [started('x')], { origin });
        const [, , third, closing] = await store.read('to', 0);
        expect(closing?.meta).toStrictEqual({
          ...origin,
          id: expect.stringMatching(UUID),
          correlationId: 'x',
        });
        expect(closing?.meta?.id).not.toBe(third?.meta?.id);
        await store.fork('from', 3, 'another', [started('x')]);
        expect((await store.read('another', 3))[0]?.meta).toBeNull();
      });

      it('stores the closing events behind the copies, and goes on behind them', async () => {
        await store.fork('from', 2, 'to', [started('x'), started('y')]);
        expect(await turnIds(store, 'to')).toEqual(['a', 'b', 'x', 'y']);
        expect((await store.read('to', 0)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
        expect(await store.sessions()).toMatchObject([
          { sessionId: 'from' },
          { sessionId: 'to', head: 4, open: false },
        ]);
        await store.append('to', 4, [started('z')]);
        expect(await turnIds(store, 'to')).toEqual(['a', 'b', 'x', 'y', 'z']);
        expect(await turnIds(store, 'from')).toEqual(['a', 'b', 'c']);
      });

      it('gives two sessions that go on independently', async () => {
        await store.fork('from', 2, 'to');
        await store.append('to', 2, [started('x'), started('y')]);
        await store.append('from', 3, [started('d')]);
        expect(await turnIds(store, 'to')).toEqual(['a', 'b', 'x', 'y']);
        expect(await turnIds(store, 'from')).toEqual(['a', 'b', 'c', 'd']);
        await store.fork('to', 3, 'third');
        expect(await turnIds(store, 'third')).toEqual(['a', 'b', 'x']);
      });

      it('marks the new session as open if that is wanted', async () => {
        await store.fork('from', 2, 'to', [], { open: true });
        await store.fork('from', 2, 'closed', [started('x')]);
        await store.fork('from', 2, 'with-events', [started('x')], { open: true });
        const open = await store.sessions({ open: true });
        expect(open.map(({ sessionId }) => sessionId)).toEqual(['from', 'to', 'with-events']);
      });

      it('lists the new session as made now and not open', async () => {
        const before = Date.now();
        await store.fork('from', 2, 'to');
        const [, to] = await store.sessions();
        expect(to).toEqual({
          sessionId: 'to',
          head: 2,
          open: false,
          createdAt: expect.any(Number),
          updatedAt: to?.createdAt,
        });
        expect(to?.createdAt).toBeGreaterThanOrEqual(before);
        expect((await store.sessions({ open: true })).map(({ sessionId }) => sessionId)).toEqual(['from']);
      });

      it.each([0, 4, -1, 1.5, Number.NaN, Infinity])(
        'refuses to begin at %d, and makes nothing',
        async (at) => {
          await expect(store.fork('from', at, 'to')).rejects.toThrow(RangeError);
          expect(await store.sessions()).toHaveLength(1);
        },
      );

      it('refuses a session without events', async () => {
        await expect(store.fork('nobody', 1, 'to')).rejects.toThrow(RangeError);
      });

      it('refuses an id that is taken, also its own, and leaves that session as it is', async () => {
        await store.append('to', 0, [started('x')]);
        const refused = store.fork('from', 2, 'to');
        await expect(refused).rejects.toThrow(StaleVersionError);
        await expect(refused).rejects.toMatchObject({ sessionId: 'to', expected: 0, actual: 1 });
        await expect(store.fork('from', 2, 'from')).rejects.toMatchObject({ actual: 3 });
        expect(await turnIds(store, 'to')).toEqual(['x']);
        expect(await turnIds(store, 'from')).toEqual(['a', 'b', 'c']);
      });

      it('copies a long session whole', async () => {
        const ids = Array.from({ length: 2500 }, (_, index) => `t${index}`);
        await store.append('long', 0, ids.map(started));
        await store.fork('long', 2400, 'copy');
        expect(await turnIds(store, 'copy')).toEqual(ids.slice(0, 2400));
      });
    });

    describe('adopt', () => {
      it('begins a session with the events, in their order and with their times', async () => {
        expect(await store.adopt('s', elsewhere(['a', 'b', 'c']))).toBe(3);
        expect(await store.read('s', 0)).toEqual(
          ['a', 'b', 'c'].map((turnId, index) => ({
            sessionId: 's',
            seq: index + 1,
            time: 1_000 + index,
            event: started(turnId),
            meta: null,
          })),
        );
        await store.append('s', 3, [started('d')]);
        expect(await turnIds(store, 's')).toEqual(['a', 'b', 'c', 'd']);
        await store.fork('s', 2, 'to');
        expect(await turnIds(store, 'to')).toEqual(['a', 'b']);
      });

      it('keeps the metadata that the events had', async () => {
        const meta = { ...ADA, id: 'of elsewhere', correlationId: 'a' };
        await store.adopt(
          's',
          (async function* (): AsyncGenerator<AdoptedEvent> {
            const mark = { open: false };
            yield { time: 1_000, event: started('a'), meta, mark };
            yield { time: 1_001, event: started('b'), meta: null, mark };
          })(),
        );
        expect((await store.read('s', 0)).map((envelope) => envelope.meta)).toStrictEqual([meta, null]);
      });

      it.each([true, false])(
        'lists it with the times of its first and last event and the last mark: open is %s',
        async (open) => {
          await store.adopt('s', elsewhere(['a', 'b', 'c'], open));
          expect(await store.sessions({ open })).toEqual([
            { sessionId: 's', head: 3, createdAt: 1_000, updatedAt: 1_002, open },
          ]);
          expect(await store.sessions({ open: !open })).toEqual([]);
        },
      );

      it('makes no session without events', async () => {
        expect(await store.adopt('s', elsewhere([]))).toBe(0);
        expect(await store.sessions()).toEqual([]);
      });

      it('refuses an id that is taken, without reading the events, and leaves that session as it is', async () => {
        await store.append('s', 0, [started('x')]);
        let isRead = false;
        const refused = store.adopt(
          's',
          (async function* () {
            isRead = true;
            yield* elsewhere(['a', 'b']);
          })(),
        );
        await expect(refused).rejects.toThrow(StaleVersionError);
        await expect(refused).rejects.toMatchObject({ sessionId: 's', expected: 0, actual: 1 });
        expect(isRead).toBe(false);
        expect(await turnIds(store, 's')).toEqual(['x']);
      });

      it('shows nothing and holds up nobody before the last event has come', async () => {
        const last = Promise.withResolvers<void>();
        const coming = Promise.withResolvers<void>();
        const adopted = store.adopt(
          's',
          (async function* () {
            yield* elsewhere(Array.from({ length: 2500 }, (_, index) => `t${index}`));
            coming.resolve();
            await last.promise;
            yield* elsewhere(['last']);
          })(),
        );
        await coming.promise;
        expect(await store.append('other', 0, [started('a')])).toHaveLength(1);
        expect(await store.read('s', 0)).toEqual([]);
        expect(await store.sessions()).toMatchObject([{ sessionId: 'other' }]);
        last.resolve();
        expect(await adopted).toBe(2501);
        expect((await turnIds(store, 's')).at(-1)).toBe('last');
      });

      it('stores nothing when the events end in an error, and rejects with it', async () => {
        const fault = new Error('line 2501 is torn');
        const adopted = store.adopt(
          's',
          (async function* () {
            yield* elsewhere(Array.from({ length: 2500 }, (_, index) => `t${index}`));
            throw fault;
          })(),
        );
        await expect(adopted).rejects.toBe(fault);
        expect(await store.sessions()).toEqual([]);
        expect(await store.read('s', 0)).toEqual([]);
        expect(await store.adopt('s', elsewhere(['a']))).toBe(1);
      });

      it('lets one of two for the same id win, and a session that was begun meanwhile', async () => {
        const results = await Promise.allSettled([
          store.adopt('s', elsewhere(['a'])),
          store.adopt('s', elsewhere(['b', 'c'])),
        ]);
        expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        const meanwhile = store.adopt(
          't',
          (async function* () {
            yield* elsewhere(['a', 'b']);
            await store.append('t', 0, [started('x')]);
          })(),
        );
        await expect(meanwhile).rejects.toMatchObject({ sessionId: 't', actual: 1 });
        expect(await turnIds(store, 't')).toEqual(['x']);
      });

      it('takes an id again whose session was erased', async () => {
        await store.adopt('s', elsewhere(['a', 'b'], true));
        await store.erase('s');
        expect(await store.adopt('s', elsewhere(['c']))).toBe(1);
        expect(await turnIds(store, 's')).toEqual(['c']);
      });
    });

    describe('erase', () => {
      it('leaves nothing of the session, and all of the others', async () => {
        await store.append('s', 0, [started('a'), started('b')], { open: true });
        await store.append('t', 0, [started('c')], { open: true });
        await store.erase('s');
        expect(await store.read('s', 0)).toEqual([]);
        expect(await store.sessions({ open: true })).toMatchObject([{ sessionId: 't' }]);
        expect(await turnIds(store, 't')).toEqual(['c']);
      });

      it('lets the id be used again from seq 1, as a new session', async () => {
        await store.append('s', 0, [started('a'), started('b')], { open: true });
        await store.erase('s');
        await expect(store.append('s', 2, [started('x')])).rejects.toMatchObject({ actual: 0 });
        const [again] = await store.append('s', 0, [started('c')]);
        expect(await store.read('s', 0)).toEqual([again]);
        expect(await store.sessions()).toMatchObject([{ head: 1, createdAt: again?.time, open: false }]);
      });

      it('may be asked for twice, and for a session that never was', async () => {
        await store.append('s', 0, [started('a')]);
        await Promise.all([store.erase('s'), store.erase('s')]);
        await expect(store.erase('nobody')).resolves.toBeUndefined();
        expect(await store.sessions()).toEqual([]);
      });

      it('takes several at once, and leaves the others', async () => {
        for (const id of ['a', 'b', 'c', 'd']) await store.append(id, 0, [started('x')], { open: true });
        await store.erase('a', 'nobody', 'c', 'd');
        expect(await store.sessions()).toMatchObject([{ sessionId: 'b' }]);
        expect(await store.sessions({ open: true })).toMatchObject([{ sessionId: 'b' }]);
        expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => seqs(store, id)))).toEqual([
          [],
          [1],
          [],
          [],
        ]);
      });

      it('leaves the forks of the session', async () => {
        await store.append('s', 0, [started('a'), started('b')]);
        await store.fork('s', 1, 'to');
        await store.erase('s');
        expect(await turnIds(store, 'to')).toEqual(['a']);
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

      it('finishes the fork and the erasure that were begun', async () => {
        await store.append('s', 0, [started('a')]);
        await store.append('other', 0, [started('b')]);
        const begun = [store.fork('s', 1, 'to'), store.sessions(), store.erase('other')];
        await store[Symbol.asyncDispose]();
        await expect(Promise.all(begun)).resolves.toHaveLength(3);
      });

      it('refuses all that comes later', async () => {
        await store[Symbol.asyncDispose]();
        await expect(store.append('s', 0, [started('a')])).rejects.toThrow('closed');
        await expect(store.read('s', 0)).rejects.toThrow('closed');
        await expect(store.sessions()).rejects.toThrow('closed');
        await expect(store.fork('s', 1, 'to')).rejects.toThrow('closed');
        await expect(store.adopt('s', elsewhere(['a']))).rejects.toThrow('closed');
        await expect(store.erase('s')).rejects.toThrow('closed');
      });

      it('gives up an adoption whose events have not all come', async () => {
        const adopted = store.adopt(
          's',
          (async function* () {
            yield* elsewhere(['a']);
            await store[Symbol.asyncDispose]();
            yield* elsewhere(['b']);
          })(),
        );
        await expect(adopted).rejects.toThrow('closed');
      });
    });
  });
}

/** Events of another store; all but the last have the other mark. */
async function* elsewhere(
  turnIds: readonly string[],
  open = false,
): AsyncGenerator<AdoptedEvent, void, void> {
  for (const [index, turnId] of turnIds.entries()) {
    const isLast = index === turnIds.length - 1;
    yield { time: 1_000 + index, event: started(turnId), mark: { open: isLast ? open : !open } };
  }
}

function seqsOf({ value }: IteratorResult<readonly Envelope<LoggedEvent>[], unknown>): unknown {
  return Array.isArray(value) ? value.map(({ seq }) => seq) : value;
}

function lengthOf(events: readonly unknown[]): number {
  return JSON.stringify(events).length;
}

function started(turnId: string): SessionEvent {
  return { type: 'turn.started', turnId };
}

function completed(turnId: string): SessionEvent {
  return { type: 'turn.completed', turnId, content: '' };
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

async function turnIds(store: EventStore, sessionId: string): Promise<string[]> {
  const envelopes = await store.read(sessionId, 0);
  return envelopes.map(({ event }) => ('turnId' in event ? event.turnId : event.type));
}
