import type { TurnEvent } from '../../../../machines/turn.machine.ts';
import { legacyFailure, legacyInterruptions, legacyUnapproved } from '../../../core/log/legacy-sentences.ts';
import type { TimedEvent } from '../../service/timed-event.ts';

/**
 * The fact that the turn machine received for a recorded event; null for events that the machine does not receive.
 * @param awaiting Ids of the calls that waited for approval before the event.
 */
export function factOf(turnId: string, event: TimedEvent, awaiting: readonly string[]): TurnEvent | null {
  switch (event.event) {
    case 'stepCompleted': {
      const { content: text, step, callIds } = event.data;
      const calls = callIds.map((callId) => ({ type: 'toolCall' as const, callId }));
      const parts = [{ type: 'text' as const, text }, ...calls];
      return { type: 'step.completed', turnId, step, parts, separator: '', source: null };
    }
    case 'outputRejected':
      return { type: 'output.rejected', turnId, ...event.data };
    case 'toolApproval':
      return { type: 'approval.requested', turnId, ...event.data };
    case 'toolApproved':
      return { type: 'approval.granted', turnId, ...event.data };
    case 'clientToolCall': {
      const { expiresAt: _, ...call } = event.data;
      return { type: 'tool-call.delegated', turnId, serverId: null, ...call };
    }
    case 'inputRequired': {
      const { expiresAt: _, ...asked } = event.data;
      return { type: 'input.requested', turnId, ...asked };
    }
    case 'inputAnswered':
      return { type: 'input.answered', turnId, ...event.data, cause: { kind: 'answered' } };
    case 'toolResult': {
      const { callId, toolName, serverId } = event.data;
      const call = { turnId, callId, toolName, serverId };
      if (event.data.error === undefined)
        return { type: 'tool-call.succeeded', ...call, result: event.data.result };
      const type = isInterruption(event, awaiting.includes(callId))
        ? 'tool-call.interrupted'
        : 'tool-call.failed';
      return { type, ...call, cause: UNRECORDED, reason: event.data.error };
    }
    case 'response':
      return { type: 'turn.completed', turnId, content: event.data.content };
    case 'error': {
      const cut = { turnId, step: 0, separator: '', partial: event.partial ?? '' };
      return isCancellation(event)
        ? { type: 'turn.cancelled', ...cut, cause: UNRECORDED, reason: event.data.message }
        : { type: 'turn.failed', ...cut, cause: UNRECORDED, error: event.data };
    }
    default:
      return null;
  }
}

/** The machine does not look at causes, so the replay leaves them out. */
const UNRECORDED = { kind: 'unrecorded' } as const;

/** Why something ended. Events of version 0.1.0, which have no actor, tell it by their sentence only. */
function causeKindOf(event: TimedEvent): string | undefined {
  if (event.cause || event.actor) return event.cause?.kind;
  if (event.event === 'error') return legacyFailure(event.data.details.reason).kind;
  if (event.event !== 'toolResult' || event.data.error === undefined) return undefined;
  return legacyInterruptions[event.data.error] ?? legacyUnapproved[event.data.error];
}

/** Whether the call had begun when its turn or the service ended. A call that waited for approval had not. */
function isInterruption(event: TimedEvent, wasAwaiting: boolean): boolean {
  const kind = causeKindOf(event);
  return (
    kind === 'service-stopped' || (!wasAwaiting && (kind === 'turn-cancelled' || kind === 'turn-failed'))
  );
}

export function isCancellation(event: TimedEvent): boolean {
  return event.event === 'error' && event.data.code === 'TURN_CANCELLED';
}

/** Whether the turn failed because it reached the limit. */
export function isLimitFailure(event: TimedEvent | undefined, limit: 'step-limit' | 'step-timeout'): boolean {
  return event?.event === 'error' && causeKindOf(event) === limit;
}

/** Whether the call, or a question of its server, ended because its turn was cancelled. The machine knew of that before. */
export function isCancelledCall(event: TimedEvent | undefined): boolean {
  return isEndOfCall(event) && causeKindOf(event) === 'turn-cancelled';
}

/**
 * Whether the call, or a question of its server, ended because the service stopped while it ran. The service records this
 * when it starts again.
 */
export function isLostCall(event: TimedEvent | undefined): boolean {
  return isEndOfCall(event) && causeKindOf(event) === 'service-stopped';
}

function isEndOfCall(event: TimedEvent | undefined): event is TimedEvent {
  return event?.event === 'toolResult' || event?.event === 'inputAnswered';
}
