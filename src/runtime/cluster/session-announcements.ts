import type { StreamId } from '../../core/log/streams.ts';
import type { NodeId } from '../../ports/membership.ts';
import { ALL_NODES, type Announcement, encodeMessage } from './node-messages.ts';
import type { Outbox } from './outbox.ts';

type Type = Announcement['type'];

/** Tells all nodes of sessions: one message for all sessions of one type in one turn of the event loop. */
export class SessionAnnouncements implements Disposable {
  readonly #outbox: Pick<Outbox, 'publish' | 'soon'>;
  readonly #self: NodeId;
  /** What waits for the end of this turn of the event loop. */
  readonly #waiting = new Map<Type, Set<StreamId>>();

  constructor(outbox: Pick<Outbox, 'publish' | 'soon'>, self: NodeId) {
    this.#outbox = outbox;
    this.#self = self;
  }

  add(type: Type, stream: StreamId): void {
    if (this.#waiting.size === 0) this.#outbox.soon(() => this.#publishAll());
    const streams = this.#waiting.get(type) ?? new Set();
    this.#waiting.set(type, streams.add(stream));
  }

  [Symbol.dispose](): void {
    this.#publishAll();
  }

  #publishAll(): void {
    for (const [type, streams] of this.#waiting)
      this.#outbox.publish(ALL_NODES, encodeMessage({ type, from: this.#self, streams: [...streams] }));
    this.#waiting.clear();
  }
}
