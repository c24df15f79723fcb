import { describeImage } from '../conversation/image.ts';
import { requestedCalls } from '../conversation/model-conversation.ts';
import type { ModelMessage } from '../conversation/model-message.ts';
import type { Envelope } from '../log/envelope.ts';
import { reasoningText, spokenText } from '../turn/step-parts.ts';
import type { SessionState } from './session-state.ts';
import type { HistoryEntry, PendingApproval, SessionView } from './session-view.ts';

/** A session right after one of its events. */
export interface SessionMoment {
  readonly state: SessionState;
  /** The session's first event. */
  readonly first: Envelope;
  /** The event after which the session is viewed. */
  readonly last: Envelope;
}

/** @param head seq of the session's last event, which may come after `last`. */
export function viewSession({ state, first, last }: SessionMoment, head: number): SessionView {
  const { toolCalls, ...counts } = state.counts;
  return {
    sessionId: first.sessionId,
    status: state.open ? 'busy' : 'idle',
    head,
    at: last.seq,
    createdAt: isoTime(first.time),
    updatedAt: isoTime(last.time),
    turns: { ...counts, waiting: state.waiting.length },
    toolCalls,
    openTurnId: state.open?.turnId ?? null,
    approvals: pendingApprovals(state),
    history: state.transcript.map(historyEntry),
  };
}

function pendingApprovals({ open }: SessionState): PendingApproval[] {
  return [...(open?.awaiting.values() ?? [])].map(({ type, ...call }) => call);
}

export function isoTime(time: number): string {
  return new Date(time).toISOString();
}

function historyEntry(message: ModelMessage): HistoryEntry {
  switch (message.role) {
    case 'user': {
      const { text: content, images, leftOut } = message;
      const [image] = images ?? [];
      return {
        role: 'user',
        content,
        ...(image && { image: describeImage(image) }),
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
