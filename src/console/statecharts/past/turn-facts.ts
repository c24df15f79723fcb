import type { TurnEvent } from '../../../../machines/turn.machine.ts';
import type { TimedEvent } from '../../service/timed-event.ts';

/**
 * A recorded event as the turn machine was told of it; null for an event that it was not told of.
 * @param awaiting the calls that wait for approval.
 */
export function factOf(turnId: string, event: TimedEvent, awaiting: readonly string[]): TurnEvent | null {
  switch (event.event) {
    case 'stepCompleted': {
      const { content: text, step, callIds } = event.data;
      const calls = callIds.map((callId) => ({ type: 'toolCall' as const, callId }));
      const parts = [{ type: 'text' as const, text }, ...calls];
      return { type: 'step.completed', turnId, step, parts, separator: '', source: null };
    }
    case 'toolApproval':
      return { type: 'approval.requested', turnId, ...event.data };
    case 'toolApproved':
      return { type: 'approval.granted', turnId, ...event.data };
    case 'toolResult': {
      const { callId, toolName, serverId } = event.data;
      const call = { turnId, callId, toolName, serverId };
      if ('result' in event.data) return { type: 'tool-call.succeeded', ...call, result: event.data.result };
      const type = wasInterrupted(event, awaiting) ? 'tool-call.interrupted' : 'tool-call.failed';
      return { type, ...call, cause: UNRECORDED, reason: event.data.error };
    }
    case 'response':
      return { type: 'turn.completed', turnId, content: event.data.content };
    case 'error': {
      const cut = { turnId, step: 0, separator: '', partial: event.partial ?? '' };
      return isCancel(event)
        ? { type: 'turn.cancelled', ...cut, cause: UNRECORDED, reason: event.data.message }
        : { type: 'turn.failed', ...cut, cause: UNRECORDED, error: event.data };
    }
    default:
      return null;
  }
}

export function isCancel(event: TimedEvent): boolean {
  return event.event === 'error' && event.data.code === 'TURN_CANCELLED';
}

/** Of the facts the machine looks at the type alone. */
const UNRECORDED = { kind: 'unrecorded' } as const;

/** A call that still waited for approval when its turn ended has failed: it was never begun. */
function wasInterrupted(event: TimedEvent, awaiting: readonly string[]): boolean {
  if (event.event !== 'toolResult' || awaiting.includes(event.data.callId)) return false;
  return ['turn-cancelled', 'turn-failed', 'service-stopped'].includes(event.cause?.kind ?? '');
}

/** Whether the turn ended because it ran into this limit. */
export function endedBy(event: TimedEvent | undefined, limit: 'step-limit' | 'step-timeout'): boolean {
  return event?.event === 'error' && event.cause?.kind === limit;
}

/** Whether the call ended because the turn was cancelled, and so after the machine knew of that. */
export function endedByCancel(event: TimedEvent | undefined): boolean {
  return event?.event === 'toolResult' && event.cause?.kind === 'turn-cancelled';
}

/** Whether the call ended because the service came back and does not know what became of it. */
export function endedByStop(event: TimedEvent | undefined): boolean {
  return event?.event === 'toolResult' && event.cause?.kind === 'service-stopped';
}
