import type { TimedEvent } from './timed-event.ts';

export interface EventsPage {
  readonly events: readonly TimedEvent[];
  readonly head: number;
}

/** As the service answers it. */
export interface EventsAnswer extends EventsPage {
  /** When it answered, in ISO 8601. */
  readonly timestamp: string;
}

/** How many events are loaded at once. */
export const PAGE_EVENTS = 1_000;

/** Asks the service, which answers with fewer events where they are large. */
type AskPage = (after: number, limit: number) => Promise<EventsPage>;

/** The newest page. A session of one page needs only one request, unless its events are large. */
export async function latestEvents(ask: AskPage): Promise<readonly TimedEvent[]> {
  const { events, head } = await ask(0, PAGE_EVENTS);
  if (head > PAGE_EVENTS) return eventsBetween(ask, head - PAGE_EVENTS, head);
  const last = events.at(-1)?.seq ?? head;
  return [...events, ...(await eventsBetween(ask, last, head))];
}

/** The events after `seq`, up to `to`. */
export async function eventsBetween(ask: AskPage, seq: number, to: number): Promise<readonly TimedEvent[]> {
  const all: TimedEvent[] = [];
  for (let last = seq; last < to; ) {
    const { events } = await ask(last, Math.min(PAGE_EVENTS, to - last));
    all.push(...events);
    last = events.at(-1)?.seq ?? to;
  }
  return all;
}
