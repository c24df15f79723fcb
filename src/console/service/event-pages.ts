import { get } from './api.ts';
import type { Trouble } from './hub/hub-messages.ts';
import { isPassing, retryDelayMs, troubleOf } from './hub/trouble.ts';
import { sessionPath } from './paths.ts';
import type { TimedEvent } from './timed-event.ts';

interface EventsPage {
  readonly events: readonly TimedEvent[];
  readonly head: number;
}

/** How many events are loaded at once. */
const PAGE_EVENTS = 1_000;

/** The log of a session, page by page. A page that cannot be loaded for now is asked for again. */
export class EventPages {
  readonly #path: string;
  readonly #onTrouble: (trouble: Trouble | null) => void;
  readonly #closing = new AbortController();

  constructor(sessionId: string, onTrouble: (trouble: Trouble | null) => void) {
    this.#path = `${sessionPath(sessionId)}/events`;
    this.#onTrouble = onTrouble;
  }

  /** The newest page. A session of one page needs only one request. */
  async latest(): Promise<readonly TimedEvent[]> {
    const { events, head } = await this.#page(0, PAGE_EVENTS);
    if (head <= PAGE_EVENTS) return events;
    return (await this.#page(head - PAGE_EVENTS, PAGE_EVENTS)).events;
  }

  /** The page that ends before the event `seq`. */
  async before(seq: number): Promise<readonly TimedEvent[]> {
    const after = Math.max(0, seq - 1 - PAGE_EVENTS);
    return (await this.#page(after, seq - 1 - after)).events;
  }

  /** The events after `seq`, up to `to`. */
  async between(seq: number, to: number): Promise<readonly TimedEvent[]> {
    const events: TimedEvent[] = [];
    for (let last = seq; last < to; last = events.at(-1)?.seq ?? to)
      events.push(...(await this.#page(last, PAGE_EVENTS)).events);
    return events;
  }

  /** Loads nothing more. Open calls reject. */
  close(): void {
    this.#closing.abort();
  }

  async #page(after: number, limit: number): Promise<EventsPage> {
    for (let failures = 0; ; failures += 1) {
      try {
        const page = await get<EventsPage>(
          `${this.#path}?after=${after}&limit=${limit}`,
          this.#closing.signal,
        );
        if (failures > 0) this.#onTrouble(null);
        return page;
      } catch (error) {
        if (!isPassing(error)) throw error;
        const delayMs = retryDelayMs(error, failures);
        this.#onTrouble(troubleOf(error, delayMs));
        await this.#wait(delayMs);
      }
    }
  }

  #wait(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }
}
