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

  /** Number of readers of all sessions. */
  get readers(): number {
    return [...this.#bySession.values()].reduce((sum, { size }) => sum + size, 0);
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
  /** The client of plain frames while it is the only one. */
  #lone: Recipient | null = null;
  #audience: Audience | null = null;
  /** Readers of other frames than the plain ones. */
  #others: Set<SignalReader> | null = null;
  readonly #plainTurn = new PlainTurn();

  get size(): number {
    return (this.#lone ? 1 : 0) + (this.#audience?.size ?? 0) + (this.#others?.size ?? 0);
  }

  /** @param newAudience called when a second client needs one. */
  add(reader: SignalReader, newAudience: () => Audience): void {
    if (!(reader instanceof Recipient)) {
      this.#others ??= new Set();
      this.#others.add(reader);
    } else if (this.#lone === null && this.#audience === null) this.#lone = reader;
    else this.#openAudience(newAudience).add(reader);
  }

  remove(reader: SignalReader): void {
    if (!(reader instanceof Recipient)) this.#others?.delete(reader);
    else if (this.#lone === reader) this.#lone = null;
    else this.#audience?.remove(reader);
    if (this.#audience?.size === 0) this.#audience = null;
  }

  hear(signal: SessionSignal): void {
    const frames = new SignalFrames(signal, this.#plainTurn.newPart(signal));
    this.#lone?.hear(signal, frames);
    this.#audience?.hear(frames);
    for (const reader of this.#others ?? []) reader.hear(signal, frames);
  }

  /** The lone client joins the audience, and stays in it after the others have left. */
  #openAudience(newAudience: () => Audience): Audience {
    this.#audience ??= newAudience();
    if (this.#lone) this.#audience.add(this.#lone);
    this.#lone = null;
    return this.#audience;
  }
}
