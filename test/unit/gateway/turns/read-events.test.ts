import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import type { Envelope } from '../../../../src/core/log/envelope.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { newestEvents, readEvents } from '../../../../src/gateway/turns/read-events.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { someEvents } from '../../../../src/runtime/requests/some-events.ts';
import { Journal } from '../../../../src/runtime/sessions/journal.ts';
import { CLIENT } from '../../../support/sessions/origins.ts';

const sessionId = 's';
const LONG = 450;
/** Of the log, a page has one of these. */
const large = 'x'.repeat(1_000_000);

/** A session of events that are all large, or all small. */
async function session({ texts, count }: { readonly texts: string; readonly count: number }) {
  const bus = new LocalBus((error) => {
    throw error;
  });
  const journal = new Journal(memoryEventStore(), bus);
  const events = Array.from({ length: count }, (_, index) => ({
    type: 'turn.requested' as const,
    turnId: `t${index + 1}`,
    text: texts,
  }));
  await journal.append(sessionId, 0, events, { open: false, origin: CLIENT });
  const answers: number[] = [];
  bus.handle('session.events', async (asked) => {
    const found = await someEvents(journal, asked);
    answers.push(found.length);
    return found;
  });
  return { bus, answers };
}

const seqsOf = async (events: AsyncIterable<Envelope>): Promise<number[]> =>
  (await Array.fromAsync(events)).map(({ seq }) => seq);

const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe.each([
  { name: 'small', texts: 'hello', count: LONG },
  { name: 'large', texts: large, count: 20 },
])('the $name events of a session', ({ texts, count }) => {
  it('are read in order, up to the last one or to the one that is wanted', async () => {
    const { bus } = await session({ texts, count });
    expect(await seqsOf(readEvents(bus, { sessionId, after: 0 }, ANYONE))).toEqual(upTo(count));
    const range = { sessionId, after: 3, until: count - 1 };
    expect(await seqsOf(readEvents(bus, range, ANYONE))).toEqual(upTo(count - 1, 4));
    expect(await seqsOf(readEvents(bus, { sessionId, after: count }, ANYONE))).toEqual([]);
  });

  it('are read from the end', async () => {
    const { bus } = await session({ texts, count });
    expect(await seqsOf(newestEvents(bus, { sessionId, head: count }, ANYONE))).toEqual(
      upTo(count).reverse(),
    );
  });
});

it.each([
  { characters: 1_000_000, count: 3, expected: [1, 1, 1, 0] },
  // Of the log, a page has 20 of these, and an answer 8 pages.
  { characters: 50_000, count: 400, expected: [160, 160, 80, 0] },
])('gives events of $characters characters a few at a time', async ({ characters, count, expected }) => {
  const { bus, answers } = await session({ texts: 'x'.repeat(characters), count });
  await seqsOf(readEvents(bus, { sessionId, after: 0 }, ANYONE));
  expect(answers).toEqual(expected);
});
