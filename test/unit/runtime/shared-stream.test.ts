import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { AGENTS_STREAM, SERVERS_STREAM } from '../../../src/core/log/streams.ts';
import { StaleVersionError } from '../../../src/ports/event-store.ts';
import { againWhenStale } from '../../../src/runtime/streams/again-when-stale.ts';
import { SharedStream } from '../../../src/runtime/streams/shared-stream.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { CLIENT } from '../../support/sessions/origins.ts';

const removed = (name: string) => ({ type: 'mcp-server.removed', name }) as const;

/** A node whose stream is a list of names. */
function node(store = memoryEventStore()) {
  const watched = new WatchedStore(store);
  const names: string[] = [];
  const stream = new SharedStream(watched, SERVERS_STREAM, ({ event }) => {
    if ('name' in event) names.push(event.name);
  });
  /** Each name once, whoever adds it. @returns whether it is new. */
  const add = (name: string): Promise<boolean> =>
    stream.write(() => {
      const isNew = !names.includes(name);
      return { events: isNew ? [removed(name)] : [], answer: () => isNew };
    }, CLIENT);
  return { store: watched, names, stream, add };
}

describe('a stream that several nodes write', () => {
  it('has each decision made on all that came before it', async () => {
    const store = memoryEventStore();
    const nodes = [node(store), node(store), node(store)];
    const wanted = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const added = await Promise.all(nodes.flatMap(({ add }) => wanted.map((name) => add(name))));
    expect(added.filter(Boolean)).toHaveLength(20);
    expect(await store.read(SERVERS_STREAM, 0)).toHaveLength(20);
    for (const { stream, names } of nodes) {
      await stream.catchUp();
      expect(names.toSorted()).toEqual(wanted.toSorted());
    }
  });

  it('is read by the other nodes before a write is answered, also when each of them writes', async () => {
    const store = memoryEventStore();
    const [one, other] = [node(store), node(store)];
    one.store.announce = () => other.stream.catchUp();
    other.store.announce = () => one.stream.catchUp();
    await Promise.all([one.add('a'), other.add('b')]);
    for (const { names } of [one, other]) expect(names.toSorted()).toEqual(['a', 'b']);
    await one.add('c');
    expect(other.names).toContain('c');
  });

  it('announces nothing when nothing was appended', async () => {
    const { store, add } = node();
    const announced: string[] = [];
    store.announce = async (streamId) => void announced.push(streamId);
    await add('a');
    await add('a');
    expect(announced).toEqual([SERVERS_STREAM]);
  });

  it('decides again when another node was first', async () => {
    const store = memoryEventStore();
    const [one, other] = [node(store), node(store)];
    one.store.beforeAppend = async () => {
      one.store.beforeAppend = async () => undefined;
      await other.add('a');
    };
    expect(await one.add('a')).toBe(false);
    expect(one.names).toEqual(['a']);
  });

  it('finds what a failed append has stored after all', async () => {
    const { store, names, add } = node();
    store.afterAppend = () => Promise.reject(new Error('the connection is gone'));
    await expect(add('a')).rejects.toThrow('the connection is gone');
    store.afterAppend = async () => undefined;
    expect(names).toEqual([]);
    expect([await add('a'), names]).toEqual([false, ['a']]);
  });

  it('goes on after a decision that was refused', async () => {
    const { stream, add } = node();
    const refused = stream.write(() => {
      throw new Error('no');
    }, CLIENT);
    await expect(refused).rejects.toThrow('no');
    expect(await add('a')).toBe(true);
  });
});

describe('an append that is always stale', () => {
  it('gives up, and other errors are not tried again', async () => {
    let tries = 0;
    const stale = new StaleVersionError(AGENTS_STREAM, 0, 1);
    const attempt = (error: Error) => () => {
      tries += 1;
      return Promise.reject(error);
    };
    await expect(againWhenStale(attempt(stale))).rejects.toBe(stale);
    expect(tries).toBe(20);
    await expect(againWhenStale(attempt(new Error('disk full')))).rejects.toThrow('disk full');
    expect(tries).toBe(21);
  });
});
