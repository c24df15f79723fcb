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
      ['no part', []],
      ['one part', ['{"text": "Zoë 👋"}']],
      ['an empty part', ['', 'x', '']],
      ['many parts', Array.from({ length: 50 }, (_, index) => `${index}\n`.repeat(1_000))],
    ])('gives back %s as saved', async (_, parts) => {
      await store.save('s', 7, oneByOne(...parts));
      expect(await store.load('s')).toEqual({ seq: 7, parts });
    });

    it('gives what was saved last, also when its seq is lower and its parts are fewer', async () => {
      await store.save('s', 7, oneByOne('first'));
      await store.save('s', 9, oneByOne('second', 'and more'));
      expect(await store.load('s')).toEqual({ seq: 9, parts: ['second', 'and more'] });
      await store.save('s', 2, oneByOne('third'));
      expect(await store.load('s')).toEqual({ seq: 2, parts: ['third'] });
    });

    it('gives none of a later moment than is asked for', async () => {
      await store.save('s', 7, oneByOne('S'));
      expect(await store.load('s', 6)).toBeUndefined();
      expect(await store.load('s', 7)).toEqual({ seq: 7, parts: ['S'] });
      expect(await store.load('s', 8)).toEqual({ seq: 7, parts: ['S'] });
    });

    it('keeps sessions apart', async () => {
      await store.save('a', 1, oneByOne('A'));
      await store.save('b', 2, oneByOne('B'));
      await store.erase('a');
      expect(await store.load('a')).toBeUndefined();
      expect(await store.load('b')).toEqual({ seq: 2, parts: ['B'] });
    });

    it('may be asked twice to erase, and for a session that has no snapshot', async () => {
      await store.save('s', 1, oneByOne('S'));
      await store.erase('s');
      await expect(store.erase('s')).resolves.toBeUndefined();
      await expect(store.erase('nobody')).resolves.toBeUndefined();
    });

    it('rejects when the parts end with an error, and keeps the snapshot before', async () => {
      await store.save('s', 1, oneByOne('S'));
      await expect(store.save('s', 2, brokenAfter('new'))).rejects.toThrow('cannot be encoded');
      expect(await store.load('s')).toEqual({ seq: 1, parts: ['S'] });
    });

    it('takes calls while others are under way, and gives whole snapshots only', async () => {
      const held = Promise.withResolvers<void>();
      const slow = store.save('a', 1, heldBetween('A1', held.promise, 'A2'));
      const others = [store.save('b', 2, oneByOne('B1', 'B2')), store.load('a'), store.erase('c')];
      held.resolve();
      await Promise.all([slow, ...others]);
      expect(await store.load('a')).toEqual({ seq: 1, parts: ['A1', 'A2'] });
      expect(await store.load('b')).toEqual({ seq: 2, parts: ['B1', 'B2'] });
    });

    it('refuses everything once it is closed, and may be closed twice', async () => {
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await expect(store.load('s')).rejects.toThrow('closed');
      await expect(store.save('s', 1, oneByOne('S'))).rejects.toThrow('closed');
      await expect(store.erase('s')).rejects.toThrow('closed');
    });
  });
}

export async function* oneByOne(...parts: readonly string[]): AsyncGenerator<string, void, void> {
  yield* parts;
}

async function* brokenAfter(part: string): AsyncGenerator<string, void, void> {
  yield part;
  throw new Error('cannot be encoded');
}

async function* heldBetween(
  first: string,
  held: Promise<void>,
  second: string,
): AsyncGenerator<string, void, void> {
  yield first;
  await held;
  yield second;
}
