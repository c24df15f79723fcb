import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import type { InputId } from '../../core/tool-call/input-events.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import type { AskedRun } from './asked-run.ts';
import type { ResumeEntry } from './run-input.ts';
import type { AgUiTurnState } from './turn-state.ts';

/** An entry of `resume`, before the turn is known that it answers. */
export interface WantedAnswer {
  readonly entry: ResumeEntry;
  /** Null if the turn did not ask for it. Throws if it does not fit what the turn asks for. */
  readonly in: (turn: RecordedTurn, state: AgUiTurnState) => ResumeAnswer | null;
}

/** The answer to something that a turn has asked for. */
export interface ResumeAnswer {
  /** The id of the interrupt. */
  readonly id: string;
  /** Whether nobody has given an answer yet. */
  readonly isOpen: boolean;
  /** Null if nobody has given another answer. */
  readonly other: OtherAnswer | null;
  readonly give: (asked: AskedRun) => Promise<void>;
}

/** An answer that somebody else gave before, which is not the same. Without one, it is how the question ended. */
export interface OtherAnswer {
  readonly code: 'APPROVAL_NOT_FOUND' | 'INPUT_NOT_FOUND';
  readonly message: string;
  readonly details: { readonly callId: CallId } | { readonly inputId: InputId };
  readonly reason: string;
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
