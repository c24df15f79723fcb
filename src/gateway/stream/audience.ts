import type { Broadcast } from '../../ports/broadcast.ts';
import type { Recipient } from './recipient.ts';
import type { SignalFrames } from './signal-frames.ts';

/** How much is published until it is looked for clients that do not read: seldom, because each look asks every socket. */
const LOOK_CHARACTERS = 64 * 1024;

/** The clients of a session that get the same frames. A frame is published, and so written once for all of them. */
export class Audience {
  readonly #topic: string;
  readonly #broadcast: Broadcast;
  readonly #members = new Set<Recipient>();
  #sinceLook = 0;

  /** @param topic of nobody else. */
  constructor(topic: string, broadcast: Broadcast) {
    this.#topic = topic;
    this.#broadcast = broadcast;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: Recipient): void {
    this.#members.add(member);
    member.subscribe(this.#topic);
  }

  remove(member: Recipient): void {
    if (this.#members.delete(member)) member.unsubscribe(this.#topic);
  }

  hear({ plain }: SignalFrames): void {
    if (plain === null) return;
    this.#sinceLook += plain.length;
    if (this.#sinceLook >= LOOK_CHARACTERS) this.#look();
    if (plain.length <= this.#broadcast.maxCharacters) this.#broadcast.publish(this.#topic, plain);
    else for (const member of this.#members) member.send(plain);
  }

  /** A broadcast does not tell who keeps what: those who keep too much are given up here. */
  #look(): void {
    this.#sinceLook = 0;
    // As much as this again may be on its way to the sockets already.
    for (const member of this.#members) member.giveUpIfSlow(2 * LOOK_CHARACTERS);
  }
}
