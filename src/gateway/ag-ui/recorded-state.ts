import type { CallId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import { TurnState } from './turn-state.ts';

/** How far a turn is by now. */
export function stateOf(turn: RecordedTurn): TurnState {
  return foldUpTo(turn, turn.head).state;
}

/** Where a run begins that decides these calls: at the pause of the turn before the first of them was decided. */
export function pauseBefore(
  turn: RecordedTurn,
  callIds: readonly CallId[],
): { readonly turn: TurnState; readonly afterSeq: number } {
  const decided = turn.since.find(({ event }) => decides(event, callIds));
  const { pauses } = foldUpTo(turn, (decided?.seq ?? turn.head + 1) - 1);
  const afterSeq = pauses.at(-1) ?? (decided?.seq ?? turn.head + 1) - 1;
  return { turn: foldUpTo(turn, afterSeq).state, afterSeq };
}

/** @returns also the seqs after which only a client could go on. */
function foldUpTo({ requested, since }: RecordedTurn, last: number): { state: TurnState; pauses: number[] } {
  const state = new TurnState(requested.turnId);
  const pauses: number[] = [];
  for (const envelope of since) {
    if (envelope.seq > last) break;
    const wasPaused = state.isPaused;
    state.take(envelope);
    if (state.isPaused && !wasPaused) pauses.push(envelope.seq);
  }
  return { state, pauses };
}

const DECISIONS: ReadonlySet<Envelope['event']['type']> = new Set([
  ...(['approval.granted', 'tool-call.succeeded', 'tool-call.failed', 'tool-call.interrupted'] as const),
]);

function decides(event: Envelope['event'], callIds: readonly CallId[]): boolean {
  return DECISIONS.has(event.type) && 'callId' in event && callIds.includes(event.callId);
}
