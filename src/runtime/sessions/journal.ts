import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { isSessionEvent, type LoggedEvent, type SessionEvent } from '../../core/log/events.ts';
import type { EventStore, SessionFilter, SessionMark, SessionSummary } from '../../ports/event-store.ts';
import type { Bus } from '../bus/bus.ts';

/** Append, then publish: the only place that does either with a durable event. */
export class Journal {
  readonly #store: EventStore;
  readonly #bus: Bus;

  constructor(store: EventStore, bus: Bus) {
    this.#store = store;
    this.#bus = bus;
  }

  async append(
    sessionId: SessionId,
    expectedSeq: number,
    events: readonly SessionEvent[],
    mark: SessionMark,
  ): Promise<Envelope[]> {
    const envelopes = ofSession(await this.#store.append(sessionId, expectedSeq, events, mark));
    for (const envelope of envelopes) this.#bus.publish(envelope);
    return envelopes;
  }

  async read(sessionId: SessionId, afterSeq: number, limit?: number): Promise<Envelope[]> {
    return ofSession(await this.#store.read(sessionId, afterSeq, limit));
  }

  sessions(filter: SessionFilter): Promise<SessionSummary[]> {
    return this.#store.sessions(filter);
  }

  async session(sessionId: SessionId): Promise<SessionSummary | undefined> {
    const [found] = await this.#store.sessions({ sessionId });
    return found;
  }

  /** Nobody can have heard of the new session, so nothing is published. */
  fork(from: SessionId, at: number, to: SessionId, closing: readonly SessionEvent[]): Promise<void> {
    return this.#store.fork(from, at, to, closing);
  }

  /** To be called when `session.deleted` is in the log. */
  erase(sessionId: SessionId): Promise<void> {
    return this.#store.erase(sessionId);
  }
}

/** Throws when one of them is no event of a session. */
export function ofSession(envelopes: Envelope<LoggedEvent>[]): Envelope[] {
  if (envelopes.every(isOfSession)) return envelopes;
  const alien = envelopes.find((envelope) => !isOfSession(envelope));
  throw new Error(`session ${alien?.sessionId} has an event of the service at seq ${alien?.seq}`);
}

function isOfSession(envelope: Envelope<LoggedEvent>): envelope is Envelope {
  return isSessionEvent(envelope.event);
}
