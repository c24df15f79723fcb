import { describeImage } from '../conversation/image.ts';
import { requestedCalls } from '../conversation/model-conversation.ts';
import type { ModelMessage } from '../conversation/model-message.ts';
import type { Envelope } from '../log/envelope.ts';
import type { SessionEventOf } from '../log/events.ts';
import { reasoningText, spokenText } from '../turn/step-parts.ts';
import type { SessionState } from './session-state.ts';
import { shownTitle } from './session-title.ts';
import type {
  ClientCall,
  HistoryEntry,
  PendingApproval,
  PendingInput,
  SessionListItem,
  SessionView,
  WaitingApproval,
  WaitingInput,
} from './session-view.ts';

/** A session right after one of its events. */
export interface SessionMoment {
  readonly state: SessionState;
  /** The session's first event. */
  readonly first: Envelope;
  /** The event after which the session is viewed. */
  readonly last: Envelope;
  /** The calls that wait for approval, oldest first. */
  readonly approvals: readonly PendingApproval[];
  /** The calls that wait for their client, oldest first. */
  readonly clientCalls: readonly ClientCall[];
  /** What tool servers ask, oldest first. */
  readonly inputs: readonly PendingInput[];
}

/** @param head seq of the session's last event, which may come after `last`. */
export function viewSession(
  { state, first, last, approvals, clientCalls, inputs }: SessionMoment,
  head: number,
): SessionView {
  const title = shownTitle(state.title);
  const { toolCalls, ...counts } = state.counts;
  return {
    sessionId: first.sessionId,
    ...(title !== null && { title }),
    ...(state.metadata && { metadata: state.metadata }),
    status: state.open ? 'busy' : 'idle',
    head,
    at: last.seq,
    createdAt: isoTime(first.time),
    updatedAt: isoTime(last.time),
    ...waitingApprovals(approvals),
    turns: { ...counts, waiting: state.waiting.length },
    toolCalls,
    openTurnId: state.open?.turnId ?? null,
    approvals: [...approvals],
    ...(clientCalls.length > 0 && { clientCalls: [...clientCalls] }),
    ...(inputs.length > 0 && { inputs: [...inputs] }),
    history: state.transcript.map(historyEntry),
  };
}

/** @param since when the approval was asked for, in milliseconds since the epoch. */
export function pendingApproval(
  { type, expiresAfterMs, ...call }: SessionEventOf<'approval.requested'>,
  since: number,
): PendingApproval {
  const expiresAt = expiresAfterMs !== undefined && { expiresAt: isoTime(since + expiresAfterMs) };
  return { ...call, since: isoTime(since), ...expiresAt };
}

/** @param since when the model asked for the call, in milliseconds since the epoch. */
export function clientCall(
  { turnId, callId, toolName, arguments: args, expiresAfterMs }: SessionEventOf<'tool-call.delegated'>,
  since: number,
): ClientCall {
  const expiresAt = expiresAfterMs !== undefined && { expiresAt: isoTime(since + expiresAfterMs) };
  return { turnId, callId, toolName, arguments: args, since: isoTime(since), ...expiresAt };
}

/** @param since when the server asked, in milliseconds since the epoch. */
export function pendingInput(
  { type, expiresAfterMs, ...asked }: SessionEventOf<'input.requested'>,
  since: number,
): PendingInput {
  const expiresAt = expiresAfterMs !== undefined && { expiresAt: isoTime(since + expiresAfterMs) };
  return { ...asked, since: isoTime(since), ...expiresAt };
}

/**
 * Compares what waits in several sessions. What began to wait at the same time is ordered by its session, so that the order
 * does not depend on which session was loaded first, or which node answered first. Within a session a stable sort keeps it.
 */
export function oldestFirst(one: Waiting, other: Waiting): number {
  return compare(one.since, other.since) || compare(one.sessionId, other.sessionId);
}

type Waiting = Pick<WaitingApproval | WaitingInput, 'since' | 'sessionId'>;

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** @param approvals oldest first. */
export function waitingApprovals(
  approvals: readonly PendingApproval[],
): Pick<SessionListItem, 'waitingApprovals'> {
  const [oldest] = approvals;
  return oldest ? { waitingApprovals: { count: approvals.length, since: oldest.since } } : {};
}

export function isoTime(time: number): string {
  return new Date(time).toISOString();
}

function historyEntry(message: ModelMessage): HistoryEntry {
  switch (message.role) {
    case 'user': {
      const { text: content, images, correction, leftOut } = message;
      const [image] = images ?? [];
      return {
        role: 'user',
        content,
        ...(image && { image: describeImage(image) }),
        ...(correction && { correction }),
        ...(leftOut && { leftOut }),
      };
    }
    case 'assistant': {
      const { parts, cut, leftOut } = message;
      const toolCalls = requestedCalls(message);
      const reasoning = reasoningText(parts);
      return {
        role: 'assistant',
        content: spokenText(parts),
        ...(reasoning !== '' && { reasoning }),
        ...(toolCalls.length > 0 && { toolCalls }),
        ...(cut && { cut }),
        ...(leftOut && { leftOut }),
      };
    }
    case 'tool': {
      const { callId, name, text: content, leftOut } = message;
      return { role: 'tool', callId, name, content, ...(leftOut && { leftOut }) };
    }
    default:
      return message satisfies never;
  }
}
