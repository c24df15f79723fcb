import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { IdFilter } from '../../../src/runtime/sessions/id-filter.ts';
import { KnownSessions } from '../../../src/runtime/sessions/known-sessions.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';

/** Ids as clients make them: counted, random, long, and such that differ in one character only. */
function* someIds(count: number, seed: number): Generator<string> {
  const random = seededRandom(seed);
  const hex = () => Math.floor(random() * 2 ** 32).toString(16);
  for (let index = 0; index < count; index += 4) {
    yield `user-${seed}-${index}`;
    yield `${hex()}${hex()}-${hex()}`;
    yield `${'x'.repeat(60)}${hex()}${seed}`;
    yield `chat:${seed}:${String(index).padStart(9, '0')}`;
  }
}

describe('a filter of ids', () => {
  it('has each id that was added, and takes hardly another for one, at any size', () => {
    const filter = new IdFilter();
    expect(filter.mayHave('a')).toBe(false);
    let size = 0;
    for (const id of someIds(300_000, 1)) {
      filter.add(id);
      size += 1;
      if (size % 60_000 !== 0) continue;
      const strangers = [...someIds(20_000, 2)];
      const mistaken = strangers.filter((stranger) => filter.mayHave(stranger)).length;
      expect(mistaken / strangers.length).toBeLessThan(0.01);
    }
    for (const id of someIds(300_000, 1)) if (!filter.mayHave(id)) throw new Error(`${id} is missing`);
  });
});

describe('the sessions of a log', () => {
  it('are unknown before they are read, then likely or certainly absent', async () => {
    const store = memoryEventStore();
    for (let index = 0; index < 2_500; index += 1)
      await store.append(`s${index}`, 0, [{ type: 'session.renamed', title: 'x' }]);
    const known = new KnownSessions();
    known.add('begun');
    expect(known.presence('s1')).toBe('unknown');
    expect(known.presence('begun')).toBe('likely');
    await known.learn(store);
    for (let index = 0; index < 2_500; index += 1) expect(known.presence(`s${index}`)).toBe('likely');
    expect(known.presence('begun')).toBe('likely');
    expect(known.presence('other')).toBe('absent');
  });

  it('are not read to the end by a service that stops', async () => {
    const known = new KnownSessions();
    const stopping = new AbortController();
    let pages = 0;
    const streamIds = async () => {
      pages += 1;
      if (pages === 3) stopping.abort();
      return Array.from({ length: 1_000 }, (_, index) => `s${pages}-${index}`);
    };
    await known.learn({ streamIds }, stopping.signal);
    expect(pages).toBe(3);
    expect(known.presence('other')).toBe('unknown');
  });

  it('stay unknown when the log cannot be read to its end', async () => {
    const known = new KnownSessions();
    let pages = 0;
    const streamIds = async () => {
      pages += 1;
      if (pages === 2) throw new Error('the disk is gone');
      return Array.from({ length: 1_000 }, (_, index) => `s${String(index).padStart(4, '0')}`);
    };
    await expect(known.learn({ streamIds })).rejects.toThrow('the disk is gone');
    expect(known.presence('s0001')).toBe('likely');
    expect(known.presence('other')).toBe('unknown');
  });
});
