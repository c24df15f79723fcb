import {
  connect,
  type SessionClient,
  type SessionStatus,
  type StreamEvent,
} from '../../client/session-client.ts';
import { errorText, get } from './api.ts';
import { sessionPath } from './paths.ts';
import { type LiveSteps, record, stream } from './running-step.ts';
import type { TimedEvent } from './timed-event.ts';

export type { TimedEvent };

export interface FeedSnapshot extends LiveSteps {
  /** `loading` until the past events are loaded. */
  readonly status: SessionStatus | 'loading';
  /** Without gaps, from `events[0].seq` to the newest. */
  readonly events: readonly TimedEvent[];
  /** Errors that are not in the log, such as refusals. The newest is the last. */
  readonly notices: readonly string[];
}

interface EventsPage {
  readonly events: readonly TimedEvent[];
  readonly head: number;
}

/** How many past events are loaded at first, and each time the reader asks for earlier ones. */
const PAGE_EVENTS = 1_000;
const EMPTY: FeedSnapshot = {
  status: 'loading',
  events: [],
  running: null,
  thoughts: new Map(),
  notices: [],
};

/**
 * The events of one session: the past from the log, then live. Listeners are called at most once per animation frame,
 * however many events arrive.
 */
export class SessionFeed {
  readonly sessionId: string;
  #snapshot = EMPTY;
  #fresh: TimedEvent[] = [];
  #client: SessionClient | null = null;
  #isClosed = false;
  #isScheduled = false;
  readonly #listeners = new Set<() => void>();

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    void this.#run();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): FeedSnapshot => this.#snapshot;

  /** Null before the past is loaded. */
  get client(): SessionClient | null {
    return this.#client;
  }

  get hasEarlier(): boolean {
    return (this.#snapshot.events[0]?.seq ?? 1) > 1;
  }

  async loadEarlier(): Promise<void> {
    const first = this.#snapshot.events[0]?.seq ?? 1;
    const after = Math.max(0, first - 1 - PAGE_EVENTS);
    const { events } = await this.#page(after, first - 1 - after);
    if (this.#snapshot.events[0]?.seq !== first) return;
    this.#change({ events: [...events, ...this.#snapshot.events] });
  }

  notify(notice: string): void {
    this.#change({ notices: [...this.#snapshot.notices, notice] });
  }

  dismissNotices(): void {
    this.#change({ notices: [] });
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.close();
  }

  async #run(): Promise<void> {
    try {
      const events = await this.#latest();
      if (this.#isClosed) return;
      this.#change({ events });
      await this.#follow(events.at(-1)?.seq ?? 0);
    } catch (error) {
      if (this.#isClosed) return;
      this.notify(errorText(error));
      this.#change({ status: 'closed' });
    }
  }

  async #follow(seq: number): Promise<void> {
    const client = connect({
      url: window.location.origin,
      session: this.sessionId,
      position: { seq, turnId: null, step: null, offset: 0 },
      reasoning: true,
      onStatus: (status) => this.#change({ status }),
    });
    this.#client = client;
    for await (const event of client) this.#take(event);
  }

  #take(event: StreamEvent): void {
    const { seq } = event;
    if (seq !== undefined) this.#record({ ...event, seq });
    else if (event.event === 'error') this.notify(event.data.message);
    else this.#change(stream(this.#snapshot, event, (turnId) => this.#lastTimeOf(turnId)));
  }

  #record(event: StreamEvent & { readonly seq: number }): void {
    const { running } = this.#snapshot;
    const partial = event.event === 'error' && running?.turnId === event.turnId ? running?.text : undefined;
    // Events from the socket have no time, so this is the time of arrival. After a reload the log has the exact one.
    const time = new Date().toISOString();
    this.#fresh.push({ ...event, time, ...(partial !== undefined && { partial }) });
    this.#change(record(this.#snapshot, event));
  }

  /** Time of the turn's last event, which is when its running step began, in milliseconds since the epoch. */
  #lastTimeOf(turnId: string): number {
    const isOfTurn = (event: TimedEvent): boolean => event.turnId === turnId;
    const last = this.#fresh.findLast(isOfTurn) ?? this.#snapshot.events.findLast(isOfTurn);
    return last ? Date.parse(last.time) : Date.now();
  }

  #change(change: Partial<FeedSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      const fresh = this.#fresh.splice(0);
      if (fresh.length > 0)
        this.#snapshot = { ...this.#snapshot, events: [...this.#snapshot.events, ...fresh] };
      for (const listener of this.#listeners) listener();
    });
  }

  /** The newest page of events. A session of one page needs only one request. */
  async #latest(): Promise<EventsPage['events']> {
    const { events, head } = await this.#page(0, PAGE_EVENTS);
    if (head <= PAGE_EVENTS) return events;
    return (await this.#page(head - PAGE_EVENTS, PAGE_EVENTS)).events;
  }

  #page(after: number, limit: number): Promise<EventsPage> {
    return get(`${sessionPath(this.sessionId)}/events?after=${after}&limit=${limit}`);
  }
}
