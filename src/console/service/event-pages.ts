import { getAgain } from './get-again.ts';
import type { Trouble } from './hub/hub-messages.ts';
import { sessionPath } from './paths.ts';
import type { ServiceClock } from './service-clock.ts';
import type { TimedEvent } from './timed-event.ts';
import {
  type EventsAnswer,
  type EventsPage,
  eventsBetween,
  latestEvents,
  PAGE_EVENTS,
} from './whole-pages.ts';

/** The log of a session, page by page. A page that cannot be loaded for now is asked for again. */
export class EventPages {
  readonly #path: string;
  readonly #onTrouble: (trouble: Trouble | null) => void;
  readonly #clock: ServiceClock;
  readonly #closing = new AbortController();

  /** @param clock is set by each answer. */
  constructor(sessionId: string, clock: ServiceClock, onTrouble: (trouble: Trouble | null) => void) {
    this.#clock = clock;
    this.#path = `${sessionPath(sessionId)}/events`;
    this.#onTrouble = onTrouble;
  }

  /** The newest page. */
  latest(): Promise<readonly TimedEvent[]> {
    return latestEvents((after, limit) => this.#page(after, limit));
  }

  /** The page that ends before the event `seq`. */
  before(seq: number): Promise<readonly TimedEvent[]> {
    return this.between(Math.max(0, seq - 1 - PAGE_EVENTS), seq - 1);
  }

  /** The events after `seq`, up to `to`. */
  between(seq: number, to: number): Promise<readonly TimedEvent[]> {
    return eventsBetween((after, limit) => this.#page(after, limit), seq, to);
  }

  /** Loads nothing more. Open calls reject. */
  close(): void {
    this.#closing.abort();
  }

  async #page(after: number, limit: number): Promise<EventsPage> {
    const path = `${this.#path}?after=${after}&limit=${limit}`;
    const page = await getAgain<EventsAnswer>(path, this.#closing.signal, this.#onTrouble);
    this.#clock.set(page.timestamp);
    return page;
  }
}
