import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { isSessionEvent, type LoggedEvent, type SessionEvent } from '../../core/log/events.ts';
import type {
  AppendOptions,
  EventStore,
  ForkOptions,
  SessionFilter,
  SessionMark,
  SessionSummary,
} from '../../ports/event-store.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import { KnownSessions, type Presence } from './known-sessions.ts';

/** A page of this size keeps the thread of the log busy for less than a millisecond. Appends wait that long. */
const COUNTED_PAGE = 1_000;

/** The only way for the events of sessions into the log and to the bus: they are appended, and then published. */
export class Journal {
  readonly #store: EventStore;
  readonly #bus: LocalBus;
  readonly #known = new KnownSessions();

  constructor(store: EventStore, bus: LocalBus) {
    this.#store = store;
    this.#bus = bus;
  }

  /** @returns what is in the log, the addendum included. */
  async append(
    sessionId: SessionId,
    expectedSeq: number,
    events: readonly SessionEvent[],
    options: SessionMark & Pick<AppendOptions, 'addendum'> & { readonly origin: Origin },
  ): Promise<Envelope[]> {
    if (expectedSeq === 0) this.#known.add(sessionId);
    return ofSession(await this.#store.append(sessionId, expectedSeq, events, options));
  }

  publish(appended: readonly Envelope[]): void {
    for (const envelope of appended) this.#bus.publish(envelope);
  }

  async read(sessionId: SessionId, afterSeq: number, limit?: number): Promise<Envelope[]> {
    return ofSession(await this.#store.read(sessionId, afterSeq, limit));
  }

  /** Reads the events after a seq page by page. */
  async *pages(
    sessionId: SessionId,
    afterSeq: number,
    limit?: number,
  ): AsyncGenerator<Envelope[], void, void> {
    for await (const page of this.#store.pages(sessionId, afterSeq, limit)) yield ofSession(page);
  }

  sessions(filter: SessionFilter): Promise<SessionSummary[]> {
    return this.#store.sessions(filter);
  }

  async session(sessionId: SessionId): Promise<SessionSummary | undefined> {
    const [found] = await this.#store.sessions({ sessionId });
    return found;
  }

  /** How many sessions have ids that begin with this prefix. Other work runs between two pages. */
  async countSessions(prefix: string): Promise<number> {
    let count = 0;
    for (let after = prefix; ; ) {
      const page = await this.#store.streamIds(after, COUNTED_PAGE);
      const wanted = page.filter((id) => id.startsWith(prefix));
      count += wanted.length;
      const last = wanted.at(-1);
      if (wanted.length < COUNTED_PAGE || last === undefined) return count;
      after = last;
      await nextLoop();
    }
  }

  /** Reads which sessions the log has. */
  learnSessions(signal?: AbortSignal): Promise<void> {
    return this.#known.learn(this.#store, signal);
  }

  /** Whether the log has the session, as far as that is known without a look at it. */
  presence(sessionId: SessionId): Presence {
    return this.#known.presence(sessionId);
  }

  /** Publishes nothing, because nobody can know the new session yet. */
  fork(fork: NewFork, closing: readonly SessionEvent[], options: ForkOptions): Promise<void> {
    this.#known.add(fork.to);
    return this.#store.fork(fork.from, fork.at, fork.to, closing, options);
  }

  /** Call when `session.deleted` is in the log. */
  erase(sessionId: SessionId): Promise<void> {
    return this.#store.erase(sessionId);
  }
}

export interface NewFork {
  readonly from: SessionId;
  /** seq of the last event that is shared. */
  readonly at: number;
  readonly to: SessionId;
  /** Whether it is for one ephemeral turn. */
  readonly ephemeral?: true | undefined;
}

/** Throws if one of the events is not an event of a session. */
export function ofSession(envelopes: Envelope<LoggedEvent>[]): Envelope[] {
  if (envelopes.every(isOfSession)) return envelopes;
  const alien = envelopes.find((envelope) => !isOfSession(envelope));
  throw new Error(`session ${alien?.sessionId} has an event of the service at seq ${alien?.seq}`);
}

function isOfSession(envelope: Envelope<LoggedEvent>): envelope is Envelope {
  return isSessionEvent(envelope.event);
}
