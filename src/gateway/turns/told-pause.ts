import type { CallId } from '../../core/ids.ts';
import type { SessionEvent, SessionEventOf, ToolCallSettled } from '../../core/log/events.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import { type DelegatedCall, TurnProgress } from './turn-progress.ts';

/** What a request was told that has answered calls of a turn, as far as the log has it. */
export interface ToldPause {
  /** The reply up to the answers. */
  readonly before: string;
  /** The steps after them. */
  readonly steps: readonly SessionEventOf<'step.completed'>[];
  /** Where the client had to do something; absent if the turn is still at work. */
  readonly end?:
    | { readonly outcome: TurnOutcome }
    | { readonly content: string; readonly calls: readonly DelegatedCall[] };
}

/**
 * @param events of the turn, from its first one on.
 * @param callIds of the calls that were answered. All of them are settled.
 */
export function pauseAfter(
  events: readonly SessionEvent[],
  callIds: readonly CallId[],
  hasForm: boolean,
): ToldPause {
  const progress = new TurnProgress(hasForm);
  const open = new Set(callIds);
  const steps: SessionEventOf<'step.completed'>[] = [];
  let before = '';
  for (const event of events) {
    progress.note(event);
    if (event.type === 'step.completed' && open.size === 0) steps.push(event);
    if (isSettling(event)) open.delete(event.callId);
    if (open.size > 0) {
      before = progress.reply;
      continue;
    }
    const { missingCalls: calls, reply: content } = progress;
    if (calls.length > 0) return { before, steps, end: { content, calls } };
    const ended = outcomeOf(event);
    if (ended) return { before, steps, end: ended };
  }
  return { before, steps };
}

function isSettling(event: SessionEvent): event is ToolCallSettled {
  return (
    event.type === 'tool-call.succeeded' ||
    event.type === 'tool-call.failed' ||
    event.type === 'tool-call.interrupted'
  );
}
