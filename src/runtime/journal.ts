import type { Envelope } from '../contract/envelope.ts';
import type { SessionEvent } from '../contract/events.ts';
import type { SessionId } from '../contract/ids.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Bus } from './bus.ts';

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
  ): Promise<Envelope[]> {
    const envelopes = await this.#store.append(sessionId, expectedSeq, events);
    for (const envelope of envelopes) this.#bus.publish(envelope);
    return envelopes;
  }

  read(sessionId: SessionId, afterSeq: number, limit?: number): Promise<Envelope[]> {
    return this.#store.read(sessionId, afterSeq, limit);
  }
}
