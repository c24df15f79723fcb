import type { TurnId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import { outcomeOf } from '../../../core/session/session-state.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';
import { approvalKey, askedIn, inputKey, keyOf, type Question } from './asked-question.ts';

/** How far a turn is, from its events. They may come twice, and in any order. */
export class McpTurnState {
  readonly turnId: TurnId;
  /** By their keys. */
  readonly #asked = new Map<string, Question>();
  /** The keys of those that nobody needs to answer any more. */
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
    return [...this.#asked].flatMap(([key, question]) => (this.#over.has(key) ? [] : [question]));
  }

  /** @returns whether the event is one of this turn. */
  note(envelope: Envelope): boolean {
    const { event, time } = envelope;
    if (!('turnId' in event) || event.turnId !== this.turnId) return false;
    this.#changedAt = Math.max(this.#changedAt, time);
    this.#outcome ??= outcomeOf(event)?.outcome;
    const question = askedIn(envelope);
    if (question) this.#asked.set(keyOf(question), question);
    switch (event.type) {
      case 'approval.granted':
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#over.add(approvalKey(event));
        break;
      case 'input.answered':
        this.#over.add(inputKey(event));
        break;
      default:
    }
    return true;
  }
}
