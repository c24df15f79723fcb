import { describe, expect, it } from 'vitest';
import { cutAfter, eventsOf, firstSeqOf, packed } from '../../../src/adapters/sqlite/file/packed-events.ts';
import type { Link } from '../../../src/stored-log/chain.ts';
import type { EncodedEvents } from '../../../src/stored-log/stored-row.ts';

const TIME = 1_763_800_000_000;
const THREE = {
  types: ['turn.requested', 'turn.started', 'turn.completed'],
  data: ['{"text":"one\\ntwo"}', '{}', '{"text":"a b"}'],
};

/** The only row for some events. */
function packedInOne(afterSeq: number, events: EncodedEvents): Link {
  const [row, ...others] = packed(afterSeq, TIME, events);
  if (row === undefined || others.length > 0) throw new Error(`${others.length} rows too many`);
  return row;
}

describe('a row of several events', () => {
  it('gives each of them back, with its seq', () => {
    const row = packedInOne(4, THREE);
    expect(row.seq).toBe(7);
    expect(firstSeqOf(row)).toBe(5);
    expect(eventsOf(row)).toEqual(
      THREE.types.map((type, index) => ({ seq: 5 + index, time: TIME, type, data: THREE.data[index] })),
    );
  });

  it('is the same row as before when it has one event, whatever that is', () => {
    const row = { seq: 1, time: TIME, type: 'turn.started', data: '{\n  "of": "an earlier release"\n}' };
    expect(packedInOne(0, { types: [row.type], data: [row.data] })).toEqual(row);
    expect(firstSeqOf(row)).toBe(1);
    expect(eventsOf(row)).toEqual([row]);
  });

  it.each([
    [5, 1],
    [6, 2],
    [7, 3],
    [9, 3],
  ])('is cut after seq %i, and keeps %i events', (seq, count) => {
    const row = packedInOne(4, THREE);
    const cut = cutAfter(row, seq);
    expect(cut.seq).toBe(Math.min(seq, 7));
    expect(eventsOf(cut)).toEqual(eventsOf(row).slice(0, count));
  });

  it('is refused when the numbers of events and types differ', () => {
    const row = { ...packedInOne(0, THREE), type: 'turn.requested turn.started' };
    expect(() => eventsOf(row)).toThrow('the row has 3 events and 2 types');
  });

  it.each([
    ['many events', 100, 10],
    ['large events', 7, 50_000],
    ['one event that is larger than a row', 1, 200_000],
    ['no events', 0, 0],
  ])('is bounded: %s', (_, count, length) => {
    const data = Array.from({ length: count }, (_, index) => JSON.stringify(`${index}`.padEnd(length)));
    const rows = packed(3, TIME, { types: data.map(() => 'turn.started'), data });
    expect(rows.flatMap(eventsOf)).toEqual(
      data.map((json, index) => ({ seq: 4 + index, time: TIME, type: 'turn.started', data: json })),
    );
    for (const row of rows) {
      const events = eventsOf(row);
      expect(events.length).toBeLessThanOrEqual(32);
      if (events.length > 1) expect(row.data.length).toBeLessThan(66_000);
    }
    expect(rows.length).toBeLessThanOrEqual(count);
  });
});
