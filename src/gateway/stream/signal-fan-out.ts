import type { SessionId } from '../../core/ids.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Broadcast } from '../../ports/broadcast.ts';
import type { Bus, SessionListener } from '../../ports/bus.ts';
import { Audience } from './audience.ts';
import { PlainTurn } from './plain-turn.ts';
import { Recipient } from './recipient.ts';
import { SignalFrames, type SignalReader } from './signal-frames.ts';

/**
 * Delivers the signals of sessions to their clients. A session has one bus subscription, and a signal is
 * serialized once, however many clients listen. No client waits for another.
 */
export class SignalFanOut {
  readonly #bus: Bus;
  readonly #broadcast: Broadcast;
  readonly #bySession = new Map<SessionId, SessionReaders>();

  constructor(bus: Bus, broadcast: Broadcast) {
    this.#bus = bus;
    this.#broadcast = broadcast;
  }

  join(sessionId: SessionId, reader: SignalReader): void {
    const readers = this.#bySession.get(sessionId) ?? this.#open(sessionId);
    readers.add(reader, () => new Audience(sessionId, this.#broadcast));
  }

  /** Ends the delivery. `join` returns no function for this, because each idle client would keep one in memory. */
  leave(sessionId: SessionId, reader: SignalReader): void {
    const readers = this.#bySession.get(sessionId);
    readers?.remove(reader);
    if (!readers || readers.size > 0) return;
    this.#bus.offSession(sessionId, readers);
    this.#bySession.delete(sessionId);
  }

  hasReaders(sessionId: SessionId): boolean {
    return this.#bySession.has(sessionId);
  }

  #open(sessionId: SessionId): SessionReaders {
    const readers = new SessionReaders();
    this.#bySession.set(sessionId, readers);
    this.#bus.onSession(sessionId, readers);
    return readers;
  }
}

/** The readers of one session. Most sessions have one client, which needs no audience. */
class SessionReaders implements SessionListener {
  /** The clients of plain frames: the only one, or an audience as soon as there are two. */
  #plain: Recipient | Audience | null = null;
  /** Readers of other frames than the plain ones. */
  #others: Set<SignalReader> | null = null;
  /** Created with the first signal, because most clients are silent most of the time. */
  #plainTurn: PlainTurn | null = null;

  get size(): number {
    const plain = this.#plain instanceof Audience ? this.#plain.size : Number(this.#plain !== null);
    return plain + (this.#others?.size ?? 0);
  }

  /** @param newAudience called when a second client needs one. */
  add(reader: SignalReader, newAudience: () => Audience): void {
    if (!(reader instanceof Recipient)) {
      this.#others ??= new Set();
      this.#others.add(reader);
    } else if (this.#plain === null) this.#plain = reader;
    else {
      // The lone client joins the audience, and stays in it after the others have left.
      if (this.#plain instanceof Recipient) this.#plain = newAudience().add(this.#plain);
      this.#plain.add(reader);
    }
  }

  remove(reader: SignalReader): void {
    if (!(reader instanceof Recipient)) this.#others?.delete(reader);
    else if (this.#plain instanceof Audience) {
      this.#plain.remove(reader);
      if (this.#plain.size === 0) this.#plain = null;
    } else if (this.#plain === reader) this.#plain = null;
  }

  hear(signal: SessionSignal): void {
    this.#plainTurn ??= new PlainTurn();
    const frames = new SignalFrames(signal, this.#plainTurn.newPart(signal));
    this.#plain?.hear(signal, frames);
    for (const reader of this.#others ?? []) reader.hear(signal, frames);
  }
}
