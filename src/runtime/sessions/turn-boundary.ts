import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import { awaitsSomebody, type SessionState } from '../../core/session/session-state.ts';

/**
 * Whether the turn is over, or goes on with a model call that has not begun. No tool call is between its two events then.
 * @param state after the events.
 */
export function isTurnBoundary(appended: readonly Envelope[], state: SessionState): boolean {
  if (!state.open || awaitsSomebody(state)) return true;
  return state.open.unsettled.size === 0 && appended.some(({ event }) => BEFORE_STEP.has(event.type));
}

const BEFORE_STEP: ReadonlySet<SessionEvent['type']> = new Set([
  ...(['turn.started', 'turn.resumed', 'step.completed', 'output.rejected'] as const),
  ...(['tool-call.succeeded', 'tool-call.failed', 'tool-call.interrupted'] as const),
]);
