import type { CallId, TurnId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import { outcomeOf } from '../../../core/session/session-state.ts';
import type { PendingApproval } from '../../../core/session/session-view.ts';
import { pendingApproval } from '../../../core/session/view-session.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';

/** How far a turn is, from its events. They may come twice, and in any order. */
export class TurnState {
  readonly turnId: TurnId;
  readonly #approvals = new Map<CallId, PendingApproval>();
  readonly #settled = new Set<CallId>();
  #outcome: TurnOutcome | undefined;
  #changedAt = 0;

  constructor(turnId: TurnId) {
    this.turnId = turnId;
  }

  /** Undefined while the turn is not over. */
  get outcome(): TurnOutcome | undefined {
    return this.#outcome;
  }

  /** When its last event was appended: milliseconds since the epoch. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** The calls that wait for approval, oldest first. */
  get approvals(): PendingApproval[] {
    return [...this.#approvals.values()].filter(({ callId }) => !this.#settled.has(callId));
  }

  /** @returns whether the event is one of this turn. */
  note({ event, time }: Envelope): boolean {
    if (!('turnId' in event) || event.turnId !== this.turnId) return false;
    this.#changedAt = Math.max(this.#changedAt, time);
    this.#outcome ??= outcomeOf(event)?.outcome;
    switch (event.type) {
      case 'approval.requested':
        this.#approvals.set(event.callId, pendingApproval(event, time));
        break;
      case 'approval.granted':
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#settled.add(event.callId);
        break;
      default:
    }
    return true;
  }
}
