import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/core/new-id.ts';

/** More than one call for random bytes serves. */
const ids = Array.from({ length: 10_000 }, () => newId());

describe('newId', () => {
  it('makes UUIDs of version 4', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(ids.filter((id) => !uuid.test(id))).toEqual([]);
  });

  it('makes each once', () => {
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('takes every digit as often as the others wherever it is random', () => {
    const fixed = new Set([8, 13, 14, 18, 19, 23]);
    for (let place = 0; place < 36; place += 1) {
      if (fixed.has(place)) continue;
      const counts = new Map<string, number>();
      for (const id of ids) counts.set(id[place] ?? '', (counts.get(id[place] ?? '') ?? 0) + 1);
      // 625 of each are expected, with a standard deviation of 24.
      expect(counts.size, `place ${place}`).toBe(16);
      for (const count of counts.values()) expect(Math.abs(count - 625), `place ${place}`).toBeLessThan(200);
    }
  });
});
