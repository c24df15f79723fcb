import type { TurnEvent } from '../../../../machines/turn.machine.ts';
import type { TimedEvent } from '../../service/timed-event.ts';

/** A recorded event as the turn machine was told of it; null for what it was not told. */
export function factOf(turnId: string, event: TimedEvent): TurnEvent | null {
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
      const { error: reason } = event.data;
      return { type: wasInterrupted(reason) ? 'tool-call.interrupted' : 'tool-call.failed', ...call, reason };
    }
    case 'response':
      return { type: 'turn.completed', turnId, content: event.data.content };
    case 'error': {
      const cut = { turnId, step: 0, separator: '', partial: event.partial ?? '' };
      return isCancel(event)
        ? { type: 'turn.cancelled', ...cut, reason: event.data.message }
        : { type: 'turn.failed', ...cut, error: event.data };
    }
    default:
      return null;
  }
}

export function isCancel(event: TimedEvent): boolean {
  return event.event === 'error' && event.data.code === 'TURN_CANCELLED';
}

/** Which of its limits ended the turn, by the option of the agent file that sets it. */
export function limitOf(event: TimedEvent): 'maxSteps' | 'stepTimeoutMs' | null {
  if (event.event !== 'error') return null;
  const { reason } = event.data.details;
  const option = /\(llm\.(\w+)\)$/.exec(typeof reason === 'string' ? reason : '')?.[1];
  return option === 'maxSteps' || option === 'stepTimeoutMs' ? option : null;
}

/** The frame of a call's end has only the reason: these are the words of the service for a call it gave up. */
const CANCELLED = /^the turn was cancelled\b/;
const FAILED = 'the turn failed';
const STOPPED = 'the service stopped while it ran';

const wasInterrupted = (reason: string): boolean =>
  [FAILED, STOPPED, 'the turn was cancelled'].includes(reason);

/** Whether the call ended because the turn was cancelled, and so after the machine knew of that. */
export function endedByCancel(event: TimedEvent | undefined): boolean {
  return errorOf(event, (error) => CANCELLED.test(error));
}

/** Whether the call ended because the service came back and does not know what became of it. */
export function endedByStop(event: TimedEvent | undefined): boolean {
  return errorOf(event, (error) => error === STOPPED);
}

function errorOf(event: TimedEvent | undefined, test: (error: string) => boolean): boolean {
  return event?.event === 'toolResult' && 'error' in event.data && test(event.data.error);
}
