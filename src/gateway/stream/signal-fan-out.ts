import type { SessionId } from '../../core/ids.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Broadcast } from '../../ports/broadcast.ts';
import type { Bus } from '../../ports/bus.ts';
import { Audience } from './audience.ts';
import { Recipient } from './recipient.ts';
import { SignalFrames, type SignalReader } from './signal-frames.ts';

/**
 * Delivers the signals of sessions to their clients. A session has one bus subscription, and a signal is
 * serialized once, however many clients listen. No client waits for another.
 */
export class SignalFanOut {
  readonly #bus: Bus;
  readonly #broadcast: Broadcast;
  readonly #feeds = new Map<SessionId, Feed>();

  constructor(bus: Bus, broadcast: Broadcast) {
    this.#bus = bus;
    this.#broadcast = broadcast;
  }

  join(sessionId: SessionId, reader: SignalReader): void {
    const feed = this.#feeds.get(sessionId) ?? this.#open(sessionId);
    feed.add(reader);
  }

  /** Ends the delivery. `join` returns no function for this, because each idle client would keep one in memory. */
  leave(sessionId: SessionId, reader: SignalReader): void {
    const feed = this.#feeds.get(sessionId);
    feed?.remove(reader);
    if (!feed || feed.size > 0) return;
    feed.close();
    this.#feeds.delete(sessionId);
  }

  /** Number of readers of all sessions. */
  get readers(): number {
    return [...this.#feeds.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #open(sessionId: SessionId): Feed {
    const feed = new Feed(sessionId, this.#bus, this.#broadcast);
    this.#feeds.set(sessionId, feed);
    return feed;
  }
}

/** The readers of one session. Most sessions have one client, which needs no audience. */
class Feed {
  readonly #sessionId: SessionId;
  readonly #broadcast: Broadcast;
  readonly #unsubscribe: () => void;
  /** The client of plain frames while it is the only one. */
  #lone: Recipient | null = null;
  #audience: Audience | null = null;
  /** Readers of other frames than the plain ones. */
  #others: Set<SignalReader> | null = null;

  constructor(sessionId: SessionId, bus: Bus, broadcast: Broadcast) {
    this.#sessionId = sessionId;
    this.#broadcast = broadcast;
    this.#unsubscribe = bus.onSession(sessionId, (signal) => this.#hear(signal));
  }

  get size(): number {
    return (this.#lone ? 1 : 0) + (this.#audience?.size ?? 0) + (this.#others?.size ?? 0);
  }

  add(reader: SignalReader): void {
    if (!(reader instanceof Recipient)) {
      this.#others ??= new Set();
      this.#others.add(reader);
    } else if (this.#lone === null && this.#audience === null) this.#lone = reader;
    else this.#openAudience().add(reader);
  }

  remove(reader: SignalReader): void {
    if (!(reader instanceof Recipient)) this.#others?.delete(reader);
    else if (this.#lone === reader) this.#lone = null;
    else this.#audience?.remove(reader);
    if (this.#audience?.size === 0) this.#audience = null;
  }

  close(): void {
    this.#unsubscribe();
  }

  /** The lone client joins the audience, and stays in it after the others have left. */
  #openAudience(): Audience {
    this.#audience ??= new Audience(this.#sessionId, this.#broadcast);
    if (this.#lone) this.#audience.add(this.#lone);
    this.#lone = null;
    return this.#audience;
  }

  #hear(signal: SessionSignal): void {
    const frames = new SignalFrames(signal);
    this.#lone?.hear(signal, frames);
    this.#audience?.hear(frames);
    for (const reader of this.#others ?? []) reader.hear(signal, frames);
  }
}
