import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Broadcast } from '../../ports/broadcast.ts';
import type { Recipient } from './recipient.ts';
import type { SignalFrames, SignalReader } from './signal-frames.ts';

/**
 * Published characters between two checks for slow clients. Checks are rare, because each one asks every
 * socket.
 */
const CHECK_CHARACTERS = 64 * 1024;

/** The clients of a session that get the same frames. Each frame is published once for all of them. */
export class Audience implements SignalReader {
  readonly #topic: string;
  readonly #broadcast: Broadcast;
  readonly #members = new Set<Recipient>();
  #charactersSinceCheck = 0;

  /** @param topic must belong to this audience alone. */
  constructor(topic: string, broadcast: Broadcast) {
    this.#topic = topic;
    this.#broadcast = broadcast;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: Recipient): this {
    this.#members.add(member);
    member.subscribe(this.#topic);
    return this;
  }

  remove(member: Recipient): void {
    if (this.#members.delete(member)) member.unsubscribe(this.#topic);
  }

  hear(_signal: SessionSignal, { plain }: SignalFrames): void {
    if (plain === null) return;
    this.#charactersSinceCheck += plain.length;
    if (this.#charactersSinceCheck >= CHECK_CHARACTERS) this.#giveUpSlowMembers();
    if (plain.length <= this.#broadcast.maxCharacters) this.#broadcast.publish(this.#topic, plain);
    else for (const member of this.#members) member.send(plain);
  }

  /** `Broadcast` does not report the buffers of single sockets. */
  #giveUpSlowMembers(): void {
    this.#charactersSinceCheck = 0;
    // Published characters that have not reached the sockets yet, and those until the next check.
    for (const member of this.#members) member.giveUpIfSlow(2 * CHECK_CHARACTERS);
  }
}
