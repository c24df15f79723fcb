import type { SessionId } from '../contract/ids.ts';
import type { Bus } from '../runtime/bus.ts';
import { encodeSignal } from './frame-codec.ts';
import type { Recipient } from './recipient.ts';

interface Feed {
  readonly recipients: Set<Recipient>;
  readonly unsubscribe: () => void;
}

/**
 * Brings the signals of sessions to the clients that listen to them: one subscription a session and one
 * serialization a signal, however many clients there are. None waits for another.
 */
export class Outbox {
  readonly #bus: Bus;
  readonly #feeds = new Map<SessionId, Feed>();

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** @returns a function that ends the delivery. */
  join(sessionId: SessionId, recipient: Recipient): () => void {
    const feed = this.#feeds.get(sessionId) ?? this.#open(sessionId);
    feed.recipients.add(recipient);
    return () => {
      feed.recipients.delete(recipient);
      if (feed.recipients.size > 0 || this.#feeds.get(sessionId) !== feed) return;
      feed.unsubscribe();
      this.#feeds.delete(sessionId);
    };
  }

  #open(sessionId: SessionId): Feed {
    const recipients = new Set<Recipient>();
    const unsubscribe = this.#bus.onSession(sessionId, (signal) => {
      const frame = encodeSignal(signal);
      if (frame === null) return;
      for (const recipient of recipients) recipient.send(frame);
    });
    const feed = { recipients, unsubscribe };
    this.#feeds.set(sessionId, feed);
    return feed;
  }
}
