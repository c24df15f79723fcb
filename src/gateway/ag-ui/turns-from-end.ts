import { refusedIn } from '../../core/conversation/refusals.ts';
import type { TurnId } from '../../core/ids.ts';
import type { SessionEvent } from '../../core/log/events.ts';

/** The turns of a session, as far as its events were read, newest first. So a turn ends before it begins, and begins before its message. */
export class TurnsFromEnd {
  /** Turns that are over, and whether they were completed. */
  readonly #over = new Map<TurnId, boolean>();
  /** Turns that have begun, and whether there is a reply from after that. Their messages may be older than that of others. */
  readonly #begun = new Map<TurnId, boolean>();
  /** Turns that have begun after the last reply and whose message was not read yet. */
  readonly #sought = new Set<TurnId>();
  /** The oldest turn that is not over, of those whose message was read. */
  #open: TurnId | null = null;
  /** The turn that has begun and is not over. Its message may have been sent before one that has interrupted another turn. */
  #atWork: TurnId | null = null;
  #hasReply = false;

  take(event: SessionEvent): void {
    switch (event.type) {
      case 'turn.completed':
        this.#over.set(event.turnId, true);
        return;
      case 'turn.cancelled':
      case 'turn.failed':
        this.#over.set(event.turnId, false);
        // The model is no longer shown most of what its provider has refused, so the message has to be said again.
        if (event.partial !== '' || (event.type === 'turn.failed' && refusedIn(event.error) !== undefined))
          this.#hasReply = true;
        return;
      case 'step.completed':
        if (this.#over.has(event.turnId)) this.#hasReply = true;
        return;
      case 'turn.started':
        if (!this.#over.has(event.turnId)) this.#atWork = event.turnId;
        this.#begun.set(event.turnId, this.#hasReply);
        if (!this.#hasReply) this.#sought.add(event.turnId);
        return;
      case 'turn.requested':
        this.#sought.delete(event.turnId);
        if (!this.#over.has(event.turnId)) this.#open = event.turnId;
        return;
      default:
    }
  }

  /** A client has added a reply to the conversation. */
  noteReply(): void {
    this.#hasReply = true;
  }

  /** Whether there is a reply from after this point: a turn that is over has said something, or a client has added it. */
  get hasReply(): boolean {
    return this.#hasReply;
  }

  /** Whether the message of each turn that has begun after the last reply was read. */
  get hasMessages(): boolean {
    return this.#sought.size === 0;
  }

  /** The turn that answers what was said at this point, if it is not over. */
  get answering(): TurnId | null {
    return this.#open ?? this.#atWork;
  }

  isCompleted(turnId: TurnId): boolean {
    return this.#over.get(turnId) ?? false;
  }

  /** Whether what the turn was asked is in the conversation. What was cancelled while it waited is not. */
  isHeard(turnId: TurnId): boolean {
    return this.#begun.has(turnId) || !this.#over.has(turnId);
  }

  /** Whether there is a reply from after the turn began. */
  isReplied(turnId: TurnId): boolean {
    return this.#begun.get(turnId) ?? false;
  }
}
