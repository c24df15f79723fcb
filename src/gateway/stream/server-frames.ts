import type { ServiceError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import type { SessionFault, SessionSignal } from '../../core/session/session-signal.ts';
import { clientCall, pendingApproval, pendingInput } from '../../core/session/view-session.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { ResumableFrame, ServerFrame } from '../../wire/frames.ts';
import type { Queued } from '../../wire/queued.ts';
import { endOf, turnCancelled } from '../turns/turn-end.ts';

/** The frame of a signal; null if the interface has none for it. */
export function encodeSignal(signal: SessionSignal): string | null {
  if ('event' in signal) {
    const frame = frameOf(signal);
    return frame && JSON.stringify(frame);
  }
  switch (signal.type) {
    case 'reply.chunk':
      return encodeChunk(signal.content);
    case 'reply.reasoning':
      return null;
    case 'session.fault':
      return JSON.stringify(faultFrame(signal));
    default:
      return signal satisfies never;
  }
}

/** The same for a client that asked for the model's reasoning. */
export function encodeWithReasoning(signal: SessionSignal): string | null {
  const isReasoning = !('event' in signal) && signal.type === 'reply.reasoning';
  return isReasoning ? JSON.stringify(thinkingFrame(signal.content)) : encodeSignal(signal);
}

/**
 * Turns have thousands of chunks. Building their frames by hand takes less than half the time.
 *
 * @param end closes `data`, adds further fields, and closes the frame.
 */
export function encodeChunk(content: string, end = '}}'): string {
  return `{"event":"chunk","data":{"content":${JSON.stringify(content)}${end}`;
}

export function encodeError(error: ServiceError): string {
  return JSON.stringify({ event: 'error', data: error.body } satisfies ServerFrame);
}

/** Tells a client that its message waits for approvals. @param turnId for a client that resumes. */
export function encodeQueued(data: Queued, turnId?: TurnId): string {
  return JSON.stringify({
    event: 'queued',
    data,
    ...(turnId !== undefined && { turnId }),
  } satisfies ResumableFrame);
}

/** The last frame of a turn, for a client that repeats the message of a turn that has ended. */
export function encodeOutcome(outcome: TurnOutcome): string {
  const end = endOf(outcome);
  const frame: ServerFrame =
    'content' in end ? { event: 'response', data: end } : { event: 'error', data: end.error };
  return JSON.stringify(frame);
}

const THINKING = 'The agent is working on a reply.';

/** @param reasoning a piece of the model's reasoning. */
export function thinkingFrame(reasoning?: string): ServerFrame {
  const data = { message: THINKING, ...(reasoning !== undefined && { reasoning }) };
  return { event: 'thinking', data };
}

export function faultFrame({ error }: SessionFault): ServerFrame {
  return { event: 'error', data: error };
}

/** Events that have a frame only for clients that resume: `ownFrame` in `resumable-frames.ts` has a case for each. */
type ResumableEvent = SessionEventOf<
  | 'turn.requested'
  | 'step.completed'
  | 'output.rejected'
  | 'approval.granted'
  | 'input.answered'
  | 'sampling.completed'
  | 'session.reset'
  | 'session.renamed'
  | 'session.described'
  | 'session.extended'
  | 'session.forked'
  | 'session.deleted'
>;

function frameOf({ event, time }: Envelope): ServerFrame | null {
  switch (event.type) {
    case 'turn.requested':
    case 'step.completed':
    case 'output.rejected':
    case 'approval.granted':
    case 'input.answered':
    case 'sampling.completed':
    case 'session.reset':
    case 'session.renamed':
    case 'session.described':
    case 'session.extended':
    case 'session.forked':
    case 'session.deleted':
      return null;
    default:
      return plainFrame(event, time);
  }
}

/** The frame of an event that all clients get. @param time of the event, in milliseconds since the epoch. */
export function plainFrame(event: Exclude<SessionEvent, ResumableEvent>, time: number): ServerFrame {
  switch (event.type) {
    case 'turn.started':
    case 'turn.resumed':
      return thinkingFrame();
    case 'tool-call.requested': {
      const { callId, toolName, serverId, arguments: args } = event;
      return { event: 'toolCall', data: { callId, toolName, serverId, arguments: args } };
    }
    case 'approval.requested': {
      const { callId, toolName, serverId, arguments: args, argumentsHash } = event;
      const { expiresAt } = pendingApproval(event, time);
      const until = expiresAt !== undefined && { expiresAt };
      return {
        event: 'toolApproval',
        data: { callId, toolName, serverId, arguments: args, argumentsHash, ...until },
      };
    }
    case 'tool-call.delegated': {
      const { callId, toolName, arguments: args } = event;
      const { expiresAt } = clientCall(event, time);
      const until = expiresAt !== undefined && { expiresAt };
      return { event: 'clientToolCall', data: { callId, toolName, arguments: args, ...until } };
    }
    case 'input.requested': {
      const { callId, toolName, serverId, inputId, message, question } = event;
      const { expiresAt } = pendingInput(event, time);
      const until = expiresAt !== undefined && { expiresAt };
      return {
        event: 'inputRequired',
        data: { callId, toolName, serverId, inputId, message, question, ...until },
      };
    }
    case 'tool-call.succeeded': {
      const { callId, toolName, serverId, result } = event;
      return { event: 'toolResult', data: { callId, toolName, serverId, result } };
    }
    case 'tool-call.failed':
    case 'tool-call.interrupted': {
      const { callId, toolName, serverId, reason } = event;
      return { event: 'toolResult', data: { callId, toolName, serverId, error: reason } };
    }
    case 'turn.completed': {
      const { content, finishReason } = event;
      return { event: 'response', data: { content, ...(finishReason && { finishReason }) } };
    }
    case 'turn.failed':
      return { event: 'error', data: event.error };
    case 'turn.cancelled':
      return { event: 'error', data: turnCancelled(sharedReason(event)).body };
    default:
      return event satisfies never;
  }
}

/** A frame goes to every client of the session, and not all of them call another session the same, or may see it. */
function sharedReason({ cause, reason }: SessionEventOf<'turn.cancelled'>): string {
  return cause.kind === 'session-forked' ? 'this session is a fork' : reason;
}
