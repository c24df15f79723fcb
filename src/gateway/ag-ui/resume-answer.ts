import { ServiceError } from '../../core/errors.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import type { AskedRun } from './asked-run.ts';
import type { ResumeEntry } from './run-input.ts';
import type { TurnState } from './turn-state.ts';

/** An entry of `resume`, before the turn is known that it answers. */
export interface WantedAnswer {
  /** As the client names the interrupt. */
  readonly interruptId: string;
  /** Null if the turn did not ask for it. Throws if it does not fit what the turn asks for. */
  readonly in: (turn: RecordedTurn, state: TurnState) => ResumeAnswer | null;
}

/** The answer to something that a turn has asked for. */
export interface ResumeAnswer {
  /** The id of the interrupt. */
  readonly id: string;
  /** Whether nobody has given an answer yet. Throws if somebody has given another one. */
  readonly isOpen: () => boolean;
  readonly give: (asked: AskedRun) => Promise<void>;
}

/** What a client sends with an entry, and where in its input it is. */
export interface ResumePayload {
  readonly payload: NonNullable<ResumeEntry['payload']>;
  readonly at: readonly PropertyKey[];
}

/** Null if the entry is cancelled. Throws if the payload is missing. @param suggestion what to send. */
export function resumePayload(
  { status, payload }: ResumeEntry,
  index: number,
  suggestion: string,
): ResumePayload | null {
  if (status === 'cancelled') return null;
  const at = ['resume', index, 'payload'];
  if (payload) return { payload, at };
  const field = at.join('.');
  throw new ServiceError('MISSING_FIELD', `The field ${field} is required.`, { field, suggestion });
}
