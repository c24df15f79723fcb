import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotStore } from '../../src/ports/snapshot-store.ts';

/** Holds an adapter to the promises written at `SnapshotStore`. `open` gives a store without any snapshot. */
export function snapshotStoreSuite(name: string, open: () => Promise<SnapshotStore>): void {
  describe(`${name} keeps the promises of a snapshot store`, () => {
    let store: SnapshotStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(async () => {
      await store[Symbol.asyncDispose]();
    });

    it('gives nothing for a session without a snapshot', async () => {
      expect(await store.load('s')).toBeUndefined();
    });

    it.each([
      ['an object', { turns: [{ text: 'Zoë 👋\u0000' }, null], count: 1.5 }],
      ['null', null],
      ['a text', ''],
      ['a list', []],
    ])('gives back %s as it was saved', async (_, state) => {
      await store.save('s', 7, state);
      expect(await store.load('s')).toEqual({ seq: 7, state });
    });

    it('gives what was saved last, also when its seq is lower', async () => {
      await store.save('s', 7, 'first');
      await store.save('s', 9, 'second');
      expect(await store.load('s')).toEqual({ seq: 9, state: 'second' });
      await store.save('s', 2, 'third');
      expect(await store.load('s')).toEqual({ seq: 2, state: 'third' });
    });

    it('keeps a state as it was when the caller changes the object, or what it was given', async () => {
      const state = { list: [1] };
      const saved = store.save('s', 1, state);
      state.list.push(2);
      await saved;
      Object.assign(Object((await store.load('s'))?.state), { list: 'gone' });
      expect(await store.load('s')).toEqual({ seq: 1, state: { list: [1] } });
    });

    it('keeps sessions apart', async () => {
      await store.save('a', 1, 'A');
      await store.save('b', 2, 'B');
      await store.erase('a');
      expect(await store.load('a')).toBeUndefined();
      expect(await store.load('b')).toEqual({ seq: 2, state: 'B' });
    });

    it('may be asked twice to erase, and for a session that has no snapshot', async () => {
      await store.save('s', 1, 'S');
      await store.erase('s');
      await expect(store.erase('s')).resolves.toBeUndefined();
      await expect(store.erase('nobody')).resolves.toBeUndefined();
    });

    it('refuses a state that cannot be encoded, and keeps the one before', async () => {
      await store.save('s', 1, 'S');
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      await expect(store.save('s', 2, cyclic)).rejects.toThrow();
      expect(await store.load('s')).toEqual({ seq: 1, state: 'S' });
    });

    it('refuses everything once it is closed, and may be closed twice', async () => {
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await expect(store.load('s')).rejects.toThrow('closed');
      await expect(store.save('s', 1, 'S')).rejects.toThrow('closed');
      await expect(store.erase('s')).rejects.toThrow('closed');
    });
  });
}
