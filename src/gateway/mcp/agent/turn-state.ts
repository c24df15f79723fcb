import type { TurnId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import type { SessionEventOf } from '../../../core/log/events.ts';
import { outcomeOf } from '../../../core/session/session-state.ts';
import { pendingApproval, pendingInput } from '../../../core/session/view-session.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';
import { keyOf, type Question } from './asked-question.ts';

/** How far a turn is, from its events. They may come twice, and in any order. */
export class TurnState {
  readonly turnId: TurnId;
  /** By their keys. */
  readonly #asked = new Map<string, Question>();
  /** The calls that are approved or settled, and the questions that have ended. */
  readonly #over = new Set<string>();
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

  /** What waits for an answer, oldest first. */
  get questions(): Question[] {
    return [...this.#asked.values()].filter((question) => !this.#isOver(question));
  }

  /** @returns whether the event is one of this turn. */
  note({ event, time }: Envelope): boolean {
    if (!('turnId' in event) || event.turnId !== this.turnId) return false;
    this.#changedAt = Math.max(this.#changedAt, time);
    this.#outcome ??= outcomeOf(event)?.outcome;
    switch (event.type) {
      case 'approval.requested':
      case 'input.requested':
        this.#ask(askedIn(event, time));
        break;
      case 'approval.granted':
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#over.add(event.callId);
        break;
      case 'input.answered':
        this.#over.add(event.inputId);
        break;
      default:
    }
    return true;
  }

  #ask(question: Question): void {
    this.#asked.set(keyOf(question), question);
  }

  #isOver(question: Question): boolean {
    return this.#over.has(question.kind === 'approval' ? question.approval.callId : question.input.inputId);
  }
}

/** @param time of the event, in milliseconds since the epoch. */
export function askedIn(
  event: SessionEventOf<'approval.requested' | 'input.requested'>,
  time: number,
): Question {
  return event.type === 'approval.requested'
    ? { kind: 'approval', approval: pendingApproval(event, time) }
    : { kind: 'input', input: pendingInput(event, time) };
}
