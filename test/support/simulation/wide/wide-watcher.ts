import type { StreamPosition } from '../../../../src/core/session/stream-cursor.ts';
import { StreamRecord } from '../../sockets/stream-record.ts';
import type { ChooseNode } from '../asking.ts';
import { SimulatedFollower } from '../simulated-follower.ts';
import type { World } from '../world.ts';
import type { Life, Lives } from './lives.ts';

/** How long after the end of a session its readers may be told of it. */
const LATE_MS = 10_000;

/** What a watcher was told of one session. */
export interface Told {
  readonly record: StreamRecord;
  /** The sessions that have these events: several, if they begin alike. None before the first event. */
  lives: readonly Life[];
}

/**
 * Follows the sessions of one id over many connections, to any nodes. After the end of a session it begins with the next
 * one. A position of the session before is of no use (`docs/protocol.md`), and this watcher knows when it has one.
 */
export class WideWatcher extends SimulatedFollower {
  /** By sessions. */
  readonly told: Told[] = [];
  readonly #lives: Lives;
  #current: Told = { record: new StreamRecord(), lives: [] };

  constructor(world: World, lives: Lives, name: string, sessionId: string, choose: ChooseNode) {
    super(world, name, sessionId, choose);
    this.#lives = lives;
    this.told.push(this.#current);
  }

  /** Whether it has all of the session that has the id now, or nothing if there is none. */
  get isUpToDate(): boolean {
    const now = this.#lives.now(this.sessionId);
    const { record } = this.#current;
    return now ? this.#isOf(now) && record.seq === now.stream.rows.length : record.seq === 0;
  }

  describe(): string {
    const { record } = this.#current;
    return `${this.name} has ${record.seq} of ${this.isUpToDate ? 'this' : 'another'} ${this.sessionId}`;
  }

  #beginAnew(): void {
    if (this.#current.record.seq === 0) return;
    this.#current = { record: new StreamRecord(), lives: [] };
    this.told.push(this.#current);
  }

  #isOf(life: Life): boolean {
    const { record, lives } = this.#current;
    return record.seq === 0 || lives.includes(life);
  }

  protected position(): StreamPosition {
    const now = this.#lives.now(this.sessionId);
    if (!now || !this.#isOf(now)) this.#beginAnew();
    return this.#current.record;
  }

  protected take(text: string): boolean {
    this.world.note(`${this.name} is told ${text.slice(0, 120)}`);
    const frame = JSON.parse(text);
    if (frame.event === 'resumed') {
      const isKnown = frame.data.head >= this.#current.record.seq;
      if (!isKnown) this.#beginAnew();
      return isKnown;
    }
    try {
      if (frame.event === 'deleted') this.#takeEnd();
      else {
        if (frame.seq !== undefined) this.#identify(frame.seq, text);
        this.#current.record.add(frame);
      }
    } catch (error) {
      this.world.faults.push(`${this.name} of ${this.sessionId}: ${String(error)}`);
      this.stop();
    }
    return true;
  }

  protected deleted(): void {
    // The last frame has said so.
  }

  #takeEnd(): void {
    const { lives } = this.#current;
    const { now } = this.world;
    const goesOn = lives.length > 0 && lives.every(({ markedAt }) => markedAt > now);
    // A reader that came early to a session may be told of the end of the one before, and then reads it again.
    const isLate = this.#lives
      .of(this.sessionId)
      .some((life) => !lives.includes(life) && life.markedAt < now && life.markedAt > now - LATE_MS);
    if (goesOn && !isLate) throw new Error('it was told the end of a session that goes on');
    this.#beginAnew();
  }

  /** Throws if the event is not one of the session whose events came before. */
  #identify(seq: number, text: string): void {
    const { lives, record } = this.#current;
    const all = record.seq === 0 ? this.#lives.of(this.sessionId) : lives;
    this.#current.lives = all.filter((life) => life.frame(seq) === text);
    if (this.#current.lives.length === 0)
      throw new Error(`event ${seq} is of another session, or of none: ${text}`);
  }
}
