import type { SessionId } from '../contract/ids.ts';
import type { SessionSignal } from '../contract/service-requests.ts';
import type { Bus } from '../runtime/bus.ts';

/** A signal as text, made once for all readers that want it in the same form. */
export class SignalFrames {
  readonly #signal: SessionSignal;
  readonly #texts = new Map<unknown, string | null>();

  constructor(signal: SessionSignal) {
    this.#signal = signal;
  }

  /** @param seq place of the reader after the signal: the same for all who are live. */
  encoded<T extends string | null>(encode: (signal: SessionSignal, seq: number) => T, seq: number): T;
  encoded(encode: (signal: SessionSignal, seq: number) => string | null, seq: number): string | null {
    const known = this.#texts.get(encode);
    if (known !== undefined) return known;
    const text = encode(this.#signal, seq);
    this.#texts.set(encode, text);
    return text;
  }
}

/** Somebody who listens to a session. */
export interface SignalReader {
  hear(signal: SessionSignal, frames: SignalFrames): void;
}

interface Feed {
  readonly readers: Set<SignalReader>;
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
  join(sessionId: SessionId, reader: SignalReader): () => void {
    const feed = this.#feeds.get(sessionId) ?? this.#open(sessionId);
    feed.readers.add(reader);
    return () => {
      feed.readers.delete(reader);
      if (feed.readers.size > 0 || this.#feeds.get(sessionId) !== feed) return;
      feed.unsubscribe();
      this.#feeds.delete(sessionId);
    };
  }

  /** How many listen, to whatever session. */
  get readers(): number {
    return [...this.#feeds.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  #open(sessionId: SessionId): Feed {
    const readers = new Set<SignalReader>();
    const unsubscribe = this.#bus.onSession(sessionId, (signal) => {
      const frames = new SignalFrames(signal);
      for (const reader of readers) reader.hear(signal, frames);
    });
    const feed = { readers, unsubscribe };
    this.#feeds.set(sessionId, feed);
    return feed;
  }
}
