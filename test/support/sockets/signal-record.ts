import { EventEmitter, once } from 'node:events';
import type { SessionEvent, SessionEventOf } from '../../../src/core/log/events.ts';
import type { ReplyChunk, SessionSignal } from '../../../src/core/session/session-signal.ts';
import type { LocalBus } from '../../../src/runtime/bus/local-bus.ts';

/** What was published of one session since the record began. */
export class SignalRecord {
  readonly signals: SessionSignal[] = [];
  readonly #arrivals = new EventEmitter();

  constructor(bus: Pick<LocalBus, 'onSession'>, sessionId: string) {
    bus.onSession(sessionId, {
      hear: (signal) => {
        this.signals.push(signal);
        this.#arrivals.emit('signal');
      },
    });
  }

  get events(): SessionEvent[] {
    return this.signals.flatMap((signal) => ('event' in signal ? [signal.event] : []));
  }

  get chunks(): ReplyChunk[] {
    return this.signals.flatMap((signal) =>
      'type' in signal && signal.type === 'reply.chunk' ? [signal] : [],
    );
  }

  get text(): string {
    return this.chunks.map(({ content }) => content).join('');
  }

  /** The first event of the type, and of the turn if one is named, now or later. */
  async event<T extends SessionEvent['type']>(type: T, turnId?: string): Promise<SessionEventOf<T>> {
    const isIt = (event: SessionEvent): event is SessionEventOf<T> =>
      event.type === type && (turnId === undefined || ('turnId' in event && event.turnId === turnId));
    for (;;) {
      const found = this.events.find(isIt);
      if (found) return found;
      await once(this.#arrivals, 'signal');
    }
  }

  /** The events of the type, as soon as there are so many. */
  async several<T extends SessionEvent['type']>(type: T, count: number): Promise<SessionEventOf<T>[]> {
    const isIt = (event: SessionEvent): event is SessionEventOf<T> => event.type === type;
    for (;;) {
      const found = this.events.filter(isIt);
      if (found.length >= count) return found;
      await once(this.#arrivals, 'signal');
    }
  }

  async fault(): Promise<SessionSignal> {
    for (;;) {
      const found = this.signals.find((signal) => 'type' in signal && signal.type === 'session.fault');
      if (found) return found;
      await once(this.#arrivals, 'signal');
    }
  }
}
