import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { LoggedEvent, ServiceEvent } from '../../core/log/events.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { SerialQueue } from '../../timing/serial-queue.ts';
import { againWhenStale } from './again-when-stale.ts';

/** What a write comes to, given all that the log says. */
export interface Decision<T> {
  /** Nothing is appended if there are none. */
  readonly events: readonly ServiceEvent[];
  /** Called once, after the events were appended and folded. */
  readonly answer: () => T | Promise<T>;
}

/**
 * A stream of the service that several nodes write. One write of this node comes after the other. A write reads what is
 * new in the log, decides, and appends. When another node appended in between, it does all of that again.
 */
export class SharedStream {
  readonly #store: EventStore;
  readonly #streamId: StreamId;
  readonly #fold: (envelope: Envelope<LoggedEvent>) => void;
  /** seq of the last event that was folded. */
  #seq = 0;
  readonly #work = new SerialQueue();

  /** @param fold gets each event of the stream once, in order, whoever wrote it. */
  constructor(store: EventStore, streamId: StreamId, fold: (envelope: Envelope<LoggedEvent>) => void) {
    this.#store = store;
    this.#streamId = streamId;
    this.#fold = fold;
  }

  /** Folds what the log has more: what other nodes wrote, and what a failed append has stored after all. */
  catchUp(): Promise<void> {
    return this.#work.run(() => this.#readOn());
  }

  /**
   * Whoever is told that a key is revoked, for example, may count on it at every node.
   * @param decide is called again when another node was first. If it throws, nothing is appended.
   */
  async write<T>(decide: () => Decision<T> | Promise<Decision<T>>, origin: Origin): Promise<T> {
    const { events, answered } = await this.#work.run(async () => {
      const decision = await againWhenStale(async () => {
        await this.#readOn();
        const decided = await decide();
        await this.#append(decided.events, origin);
        return decided;
      });
      return { events: decision.events, answered: await decision.answer() };
    });
    // After the turn: a node that writes, too, reads this when it has its turn, and waits for this node to read.
    if (events.length > 0) await this.#store.announce?.(this.#streamId);
    return answered;
  }

  /** Like a write that appends nothing. @param look sees all that the log says, and no write of this node. */
  read<T>(look: () => Promise<T>): Promise<T> {
    return this.#work.run(async () => {
      await this.#readOn();
      return look();
    });
  }

  async #readOn(): Promise<void> {
    this.#take(await this.#store.read(this.#streamId, this.#seq));
  }

  async #append(events: readonly ServiceEvent[], origin: Origin): Promise<void> {
    if (events.length === 0) return;
    this.#take(await this.#store.append(this.#streamId, this.#seq, events, { origin }));
  }

  #take(envelopes: readonly Envelope<LoggedEvent>[]): void {
    for (const envelope of envelopes) {
      this.#fold(envelope);
      this.#seq = envelope.seq;
    }
  }
}
