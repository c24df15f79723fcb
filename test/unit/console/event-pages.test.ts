import { describe, expect, it } from 'vitest';
import { eventsBetween, latestEvents } from '../../../src/console/service/whole-pages.ts';

/** A session of so many events, of which an answer has no more than `most`. */
function served(head: number, most: number) {
  const asked: number[] = [];
  const ask = async (after: number, limit: number) => {
    asked.push(limit);
    const count = Math.max(0, Math.min(limit, most, head - after));
    const events = Array.from({ length: count }, (_, index) => ({
      event: 'reset' as const,
      data: {},
      seq: after + 1 + index,
      time: new Date(0).toISOString(),
    }));
    return { events, head };
  };
  return { ask, asked };
}

const seqs = (events: readonly { readonly seq: number }[]): number[] => events.map(({ seq }) => seq);
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe.each([
  { name: 'small', most: 1_000, requests: 1 },
  { name: 'large', most: 3, requests: 4 },
])('the pages of a session of $name events', ({ most, requests }) => {
  it('are whole', async () => {
    const { ask, asked } = served(10, most);
    expect(seqs(await latestEvents(ask))).toEqual(upTo(10));
    expect(asked).toHaveLength(requests);
    expect(seqs(await eventsBetween(ask, 2, 9))).toEqual(upTo(9, 3));
  });

  it('are the newest of a long one', async () => {
    expect(seqs(await latestEvents(served(1_005, most).ask))).toEqual(upTo(1_005, 6));
  });

  it('are none of a session that is gone', async () => {
    const { ask } = served(0, most);
    expect(await latestEvents(ask)).toEqual([]);
    expect(await eventsBetween(ask, 2, 9)).toEqual([]);
  });
});
