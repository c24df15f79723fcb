import type { Envelope } from '../../core/log/envelope.ts';
import { callsIn, type RecordedTurn } from '../turns/recorded-turn.ts';
import { interruptId } from './interrupts.ts';
import { questionId } from './question-interrupts.ts';
import type { RunPlan } from './run-events.ts';
import { AgUiTurnState } from './turn-state.ts';

/** A turn as it was at one event of the session. */
export interface AgUiTurnPlace {
  readonly turn: AgUiTurnState;
  /** Seq of that event. */
  readonly afterSeq: number;
}

/** How far a turn is by now. */
export function stateOf(turn: RecordedTurn): AgUiTurnState {
  return foldUpTo(turn, turn.head).state;
}

/** Where a run begins that decides this: at the pause of the turn before the first of it was decided. */
export function pauseBefore(turn: RecordedTurn, decided: RunPlan['decided']): AgUiTurnPlace {
  const first = turn.since.find(({ event }) => decides(event, decided));
  const last = (first?.seq ?? turn.head + 1) - 1;
  const { pauses } = foldUpTo(turn, last);
  const afterSeq = pauses.at(-1) ?? last;
  return { turn: foldUpTo(turn, afterSeq).state, afterSeq };
}

/** @returns also the seqs after which only a client could go on. */
function foldUpTo(
  { requested, since }: RecordedTurn,
  last: number,
): { state: AgUiTurnState; pauses: number[] } {
  const state = new AgUiTurnState(requested.turnId);
  const pauses: number[] = [];
  for (const envelope of since) {
    if (envelope.seq > last) break;
    const wasPaused = state.isPaused;
    state.take(envelope);
    if (state.isPaused && !wasPaused) pauses.push(envelope.seq);
  }
  return { state, pauses };
}

/** The ids of what was up to a client and is decided by now. */
export function decidedIn(turn: RecordedTurn): string[] {
  const { turnId } = turn.requested;
  const state = stateOf(turn);
  const calls = callsIn(turn.since, turnId).filter(
    (callId) => ![undefined, 'waiting'].includes(state.decisionOf(callId)),
  );
  const questions = state.questions.filter(({ end }) => end !== null);
  return [
    ...calls.map((callId) => interruptId({ turnId, callId })),
    ...questions.map(({ asked }) => questionId(asked)),
  ];
}

function decides(event: Envelope['event'], decided: RunPlan['decided']): boolean {
  switch (event.type) {
    case 'approval.granted':
    case 'tool-call.succeeded':
    case 'tool-call.failed':
    case 'tool-call.interrupted':
      return decided.includes(interruptId(event));
    case 'input.answered':
      return decided.includes(questionId(event));
    default:
      return false;
  }
}
