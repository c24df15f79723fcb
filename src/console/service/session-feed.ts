import type { SendOptions, SessionStatus, StreamEvent } from '../../client/session-client.ts';
import { errorText } from './api-error.ts';
import { EventPages } from './event-pages.ts';
import type { HubSession, JoinedSession, MachinesNews, SessionNews } from './hub/hub-messages.ts';
import type { HubLink } from './hub-link.ts';
import { type LiveSteps, record, stream } from './running-step.ts';
import { ServiceClock } from './service-clock.ts';
import { SessionRemote } from './session-remote.ts';
import type { TimedEvent } from './timed-event.ts';

export type { TimedEvent };

export interface FeedSnapshot extends LiveSteps, Omit<HubSession, 'status'> {
  /** `loading` until the past events are loaded. */
  readonly status: SessionStatus | 'loading';
  /** Whether the events have all that the stream had told when this tab joined it. */
  readonly isComplete: boolean;
  /** Without gaps, from `events[0].seq` to the newest. */
  readonly events: readonly TimedEvent[];
  /** Errors that are not in the log, such as refusals. The newest is the last. */
  readonly notices: readonly string[];
}

const EMPTY: FeedSnapshot = {
  status: 'loading',
  isComplete: false,
  unanswered: [],
  events: [],
  running: null,
  thoughts: new Map(),
  unsent: [],
  trouble: null,
  notices: [],
};

/**
 * The events of one session: the past from the log, then live. Listeners are called at most once per animation frame,
 * however many events arrive.
 */
export class SessionFeed {
  readonly sessionId: string;
  readonly #hub: HubLink;
  readonly #clock = new ServiceClock();
  readonly #pages: EventPages;
  #snapshot = EMPTY;
  /**
   * What the listeners have been told. A component may be drawn between two frames, and without this it would miss a step that has
   * ended but is not among the events yet: what the reader has opened there would be folded.
   */
  #shown = EMPTY;
  /** Events that the snapshot does not have yet. */
  #fresh: TimedEvent[] = [];
  /** What has arrived while the events before it are loaded; null when none are. */
  #early: StreamEvent[] | null = null;
  /** The last event that the hub has sent. */
  #streamSeq = 0;
  #client: SessionRemote | null = null;
  #unsubscribe: () => void = () => undefined;
  #isClosed = false;
  #isScheduled = false;
  readonly #listeners = new Set<() => void>();

  constructor(sessionId: string, hub: HubLink) {
    this.sessionId = sessionId;
    this.#hub = hub;
    this.#pages = new EventPages(sessionId, this.#clock, (trouble) => this.#change({ trouble }));
    void this.#run();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): FeedSnapshot => this.#shown;

  /** The time by the clock of the service, which has the times of the events, in milliseconds since the epoch. */
  readonly now = (): number => this.#clock.now();

  /** Null before the past is loaded. */
  get client(): SessionRemote | null {
    return this.#client;
  }

  get hasEarlier(): boolean {
    return (this.#snapshot.events[0]?.seq ?? 1) > 1;
  }

  /** If the service refuses, the page says so. */
  loadEarlier(): void {
    const first = this.#snapshot.events[0]?.seq ?? 1;
    this.#pages.before(first).then(
      (events) => {
        if (this.#snapshot.events[0]?.seq !== first) return;
        this.#change({ events: [...events, ...this.#snapshot.events] });
      },
      (error: unknown) => this.notify(errorText(error)),
    );
  }

  /** @returns whether the service has the message: not if the reader has withdrawn it. Rejects when the service refuses it. */
  async send(content: string, options: SendOptions = {}): Promise<boolean> {
    if (!this.#client) throw new Error('The session is not open yet.');
    try {
      await this.#client.send(content, options);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'WithdrawnError') return false;
      throw error;
    }
  }

  /** Does something in the session. If the service refuses it, the page says so. @returns whether it was done. */
  async do(action: (client: SessionRemote) => Promise<unknown>): Promise<boolean> {
    if (!this.#client) return false;
    try {
      await action(this.#client);
      return true;
    } catch (error) {
      this.notify(errorText(error));
      return false;
    }
  }

  notify(notice: string): void {
    this.#change({ notices: [...this.#snapshot.notices, notice] });
  }

  dismissNotices(): void {
    this.#change({ notices: [] });
  }

  close(): void {
    this.#isClosed = true;
    this.#pages.close();
    this.#unsubscribe();
  }

  async #run(): Promise<void> {
    try {
      const events = await this.#pages.latest();
      if (this.#isClosed) return;
      this.#change({ events, status: 'connecting' });
      this.#client = new SessionRemote(this.#hub, this.sessionId);
      this.#unsubscribe = this.#follow();
    } catch (error) {
      this.#end(errorText(error));
    }
  }

  #follow(): () => void {
    const session = this.sessionId;
    return this.#hub.subscribe({
      isFor: (news) => 'session' in news && news.session === session,
      onNews: (news) => this.#hear(news),
      join: () => {
        const last = this.#last;
        return {
          kind: 'session.join',
          session,
          seq: last?.seq ?? 0,
          time: last ? Date.parse(last.time) : this.now(),
          clockAheadMs: this.#clock.aheadMs,
        };
      },
      leave: () => ({ kind: 'session.leave', session }),
      onPaused: () => this.#change({ status: 'paused', trouble: null }),
      isNeeded: () => this.#snapshot.unanswered.length > 0,
    });
  }

  get #last(): TimedEvent | undefined {
    return this.#fresh.at(-1) ?? this.#snapshot.events.at(-1);
  }

  #hear(news: SessionNews | MachinesNews): void {
    if (news.kind === 'session.joined') void this.#join(news.joined);
    else if (news.kind === 'session.state') this.#change(news.state);
    else if (news.kind === 'session.ended') this.#end(news.reason);
    else if (news.kind !== 'session.event') return;
    else if (this.#early) this.#early.push(news.event);
    else this.#take(news.event);
  }

  /** Another tab may have opened the stream, so the hub can be ahead of this tab, or a moment behind it. */
  async #join({ seq, steps, state }: JoinedSession): Promise<void> {
    // At once: while the events are loaded, the hub may tell of a newer state.
    this.#change({ ...state, isComplete: false });
    const early: StreamEvent[] = [];
    this.#early = early;
    let missing: readonly TimedEvent[];
    try {
      missing = await this.#pages.between(this.#last?.seq ?? 0, seq);
    } catch (error) {
      if (this.#early === early) this.#end(errorText(error));
      return;
    }
    // A later join loads what this one has loaded, and what is newer.
    if (this.#isClosed || this.#early !== early) return;
    for (const event of missing) this.#record(event);
    this.#streamSeq = seq;
    const thoughts = new Map([...this.#snapshot.thoughts, ...steps.thoughts]);
    this.#change({ thoughts, running: this.#isStreamBehind ? null : steps.running });
    this.#early = null;
    for (const event of early) this.#take(event);
    this.#change({ isComplete: true });
  }

  #take(event: StreamEvent): void {
    const { seq } = event;
    if (seq === undefined) this.#takePiece(event);
    else {
      this.#streamSeq = seq;
      const partial = this.#partialOf(event);
      const time = event.time ?? new Date(this.now()).toISOString();
      this.#record({ ...event, seq, time, ...(partial !== undefined && { partial }) });
    }
  }

  #takePiece(event: StreamEvent): void {
    // A piece that comes before an event that this tab has already belongs to a step that is over.
    if (event.event !== 'error') {
      if (!this.#isStreamBehind)
        this.#change(stream(this.#snapshot, event, { now: this.now(), since: (id) => this.#lastTimeOf(id) }));
    } else if (event.clientMessageId === undefined && event.commandId === undefined)
      this.notify(event.data.message);
  }

  get #isStreamBehind(): boolean {
    return this.#streamSeq < (this.#last?.seq ?? 0);
  }

  /** The text of the running step, if the event ends it before it is complete. */
  #partialOf(event: StreamEvent): string | undefined {
    const { running } = this.#snapshot;
    return event.event === 'error' && running?.turnId === event.turnId ? running?.text : undefined;
  }

  #record(event: TimedEvent): void {
    if (event.seq <= (this.#last?.seq ?? 0)) return;
    this.#fresh.push(event);
    this.#change(record(this.#snapshot, event, this.now()));
  }

  /** Time of the turn's last event, which is when its running step began, in milliseconds since the epoch. */
  #lastTimeOf(turnId: string): number {
    const isOfTurn = (event: TimedEvent): boolean => event.turnId === turnId;
    const last = this.#fresh.findLast(isOfTurn) ?? this.#snapshot.events.findLast(isOfTurn);
    return last ? Date.parse(last.time) : this.now();
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#unsubscribe();
    this.notify(reason);
    this.#change({ status: 'closed', unsent: [], unanswered: [] });
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
      this.#shown = this.#snapshot;
      for (const listener of this.#listeners) listener();
    });
  }
}
