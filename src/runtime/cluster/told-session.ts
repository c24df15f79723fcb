import type { SessionId } from '../../core/ids.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { StreamCursor } from '../../core/session/stream-cursor.ts';
import type { StreamPlace } from '../../ports/membership.ts';
import type { WatchedPosition } from './node-questions.ts';

/** What the clients had of a session when its place was looked up. */
export interface FeedMark {
  /** How many sessions with this id have ended for the clients. */
  readonly ended: number;
  readonly seq: number;
}

export interface ToldSessionDeps {
  readonly sessionId: () => SessionId;
  /** Tells the clients of this node. */
  readonly tell: (signal: SessionSignal) => void;
  /** Called when the session has ended for the clients. */
  readonly onEnd: () => void;
}

/**
 * One session as far as the clients of this node have it: it was read before they joined, or told them since. Where a signal
 * comes from makes no difference here.
 */
export class ToldSession {
  readonly #deps: ToldSessionDeps;
  /** Null until it is known what the clients have. */
  #cursor: StreamCursor | null = null;
  /** When the session of the clients began. Null until that is known. */
  #began: number | null = null;
  #ended = 0;

  constructor(deps: ToldSessionDeps) {
    this.#deps = deps;
  }

  /** Whether it is known what the clients have. */
  get isKnown(): boolean {
    return this.#cursor !== null;
  }

  /** Seq of the last event that the clients have. */
  get seq(): number {
    return this.#cursor?.seq ?? 0;
  }

  get began(): number | null {
    return this.#began;
  }

  get ended(): number {
    return this.#ended;
  }

  get mark(): FeedMark {
    return { ended: this.#ended, seq: this.seq };
  }

  /** The clients have all events up to this seq. Does not change what is known of the session's begin. */
  moveTo(seq: number): void {
    this.#cursor = new StreamCursor({ seq, offset: 0 });
  }

  /** The clients begin at the position of the owner. They do not get text that was streamed before they joined. */
  beginAt({ head, reasoning, running, began }: WatchedPosition): void {
    const cursor = new StreamCursor({ seq: head, offset: 0 });
    if (reasoning) cursor.take(reasoning);
    if (running) cursor.take(running);
    this.#cursor = cursor;
    this.#began = head > 0 ? (began ?? null) : null;
  }

  /** @param began when the session of the clients began, or null if that is not known. */
  noteBegan(began: number | null): void {
    this.#began = began;
  }

  /** Whether the first signal is the event that the clients lack next. */
  isFollowedBy([first]: readonly SessionSignal[]): boolean {
    return first !== undefined && 'event' in first && first.seq === this.seq + 1;
  }

  /** Whether the clients have all events up to the head, or will have them with these signals. */
  reaches(head: number, signals: readonly SessionSignal[]): boolean {
    return head === this.seq || (head > this.seq && this.isFollowedBy(signals));
  }

  /** Whether the clients have all that comes before the signal. */
  isCompleteBefore(signal: SessionSignal): boolean {
    if (this.#cursor === null || this.#cursor.skipsTo(signal)) return false;
    return 'event' in signal || signal.type !== 'reply.chunk' || !this.#cursor.lacksBefore(signal);
  }

  /** Tells the clients as much of the signal as they lack. */
  take(signal: SessionSignal): void {
    for (const due of this.#cursor?.take(signal) ?? []) this.#deps.tell(due);
    if (isDeletion(signal)) this.beginAnew();
  }

  /**
   * Tells the clients that their session was deleted, if the log does not have that session any more.
   * @param mark what the clients had before the place was looked up. If they had nothing, the place says nothing of the session
   * that they have by now.
   * @returns whether the clients were told.
   */
  compare({ head, began }: Pick<StreamPlace, 'head' | 'began'>, { ended, seq }: FeedMark): boolean {
    if (ended !== this.#ended || this.#cursor === null || seq === 0) return false;
    const isAnother = head < seq || (this.#began !== null && began !== this.#began);
    const isTold = isAnother && this.seq > 0;
    if (isTold) this.tellDeleted();
    this.#began = isTold || head === 0 ? null : began;
    return isTold;
  }

  /** For a deletion whose event nobody sends any more. */
  tellDeleted(): void {
    const [sessionId, seq] = [this.#deps.sessionId(), this.seq + 1];
    this.take({ sessionId, seq, time: Date.now(), event: { type: 'session.deleted' }, meta: null });
  }

  /** The session has ended. Another session with the same id begins with event 1. */
  beginAnew(): void {
    this.moveTo(0);
    this.#began = null;
    this.#ended += 1;
    this.#deps.onEnd();
  }
}

export function isDeletion(signal: SessionSignal): boolean {
  return 'event' in signal && signal.event.type === 'session.deleted';
}
