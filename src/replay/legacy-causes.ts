import type { TurnId } from '../core/ids.ts';
import type { SessionEvent, SessionEventOf } from '../core/log/events.ts';
import { legacyFailure, legacyInterruptions, legacyUnapproved } from '../core/log/legacy-sentences.ts';
import type { CallFailureCause, InterruptionCause } from '../core/tool-call/tool-call-causes.ts';
import { callIdsOf } from '../core/turn/step-parts.ts';
import type { CancellationCause } from '../core/turn/turn-causes.ts';

/*
 * Version 0.1.0 recorded no causes. It wrote sentences only, and a client could choose the sentence of a cancellation.
 * This file finds the causes of a whole recording. A sentence counts only if the events around it agree.
 */

/** The recording with causes instead of `unrecorded`. */
export function withCauses(recording: readonly SessionEvent[]): SessionEvent[] {
  const calls = new LegacyCalls();
  return recording.map((event, index) => {
    const isRejected = calls.note(event);
    if (!('cause' in event) || event.cause.kind !== 'unrecorded') return event;
    switch (event.type) {
      case 'turn.cancelled':
        return { ...event, cause: cancellationAt(recording, index, event) };
      case 'turn.failed':
        return { ...event, cause: legacyFailure(event.error.details.reason) };
      case 'tool-call.failed':
        return { ...event, cause: isRejected ? { kind: 'rejected' } : calls.failureOf(event) };
      case 'tool-call.interrupted':
        return { ...event, cause: interruptionOf(event.reason) };
      case 'input.answered':
        return event;
      default:
        return event satisfies never;
    }
  });
}

function interruptionOf(reason: string): InterruptionCause {
  return { kind: legacyInterruptions[reason] ?? 'service-stopped' };
}

type Cancelled = SessionEventOf<'turn.cancelled'>;

function cancellationAt(
  recording: readonly SessionEvent[],
  index: number,
  { reason }: Cancelled,
): CancellationCause {
  const interrupter = interrupterAt(recording, index);
  if (reason === 'another message interrupted it' && interrupter !== undefined)
    return { kind: 'interrupted', byTurnId: interrupter };
  const after = afterClosing(recording, index);
  if (reason === 'the conversation was reset' && after?.type === 'session.reset')
    return { kind: 'session-reset' };
  if (reason === 'the session was deleted' && after?.type === 'session.deleted')
    return { kind: 'session-deleted' };
  const from = forkNamedIn(reason);
  if (from !== undefined && after?.type === 'session.forked') return { kind: 'session-forked', from };
  return { kind: 'cancelled' };
}

/** The message that was accepted right before the turn ended, and whose turn began right after it. */
function interrupterAt(recording: readonly SessionEvent[], index: number): TurnId | undefined {
  const before = recording.slice(0, index).findLast((event) => !isOfClosing(event));
  const next = recording[index + 1];
  if (before?.type !== 'turn.requested' || next?.type !== 'turn.started') return undefined;
  return before.turnId === next.turnId ? next.turnId : undefined;
}

function isOfClosing({ type }: SessionEvent): boolean {
  return type === 'turn.cancelled' || type === 'tool-call.interrupted' || type === 'tool-call.failed';
}

function forkNamedIn(reason: string): string | undefined {
  const prefix = 'this session was forked from ';
  return reason.startsWith(prefix) ? reason.slice(prefix.length) : undefined;
}

/** The first event behind those that end turns and calls together with this turn. */
function afterClosing(recording: readonly SessionEvent[], index: number): SessionEvent | undefined {
  return recording.slice(index + 1).find((event) => !isOfClosing(event));
}

/** The tool calls of the latest step, while the events of a recording are read one by one. */
class LegacyCalls {
  /** Calls that may have been rejected. Their failures would be the next events, in this order. */
  #rejectable: readonly string[] = [];
  /** Calls that wait for approval. */
  readonly #awaiting = new Set<string>();

  /** @returns whether the event is a rejected call. A call that failed at once looks the same, and replays the same. */
  note(event: SessionEvent): boolean {
    switch (event.type) {
      case 'step.completed':
        this.#rejectable = callIdsOf(event.parts);
        return false;
      case 'tool-call.requested':
        return false;
      case 'tool-call.failed': {
        const place = event.result ? -1 : this.#rejectable.indexOf(event.callId);
        this.#rejectable = place === -1 ? [] : this.#rejectable.slice(place + 1);
        return place !== -1;
      }
      case 'approval.requested':
        this.#awaiting.add(event.callId);
        break;
      case 'approval.granted':
        this.#awaiting.delete(event.callId);
        break;
      default:
    }
    this.#rejectable = [];
    return false;
  }

  failureOf({ callId, reason }: SessionEventOf<'tool-call.failed'>): CallFailureCause {
    if (!this.#awaiting.delete(callId)) return { kind: 'tool' };
    const kind = legacyUnapproved[reason];
    if (kind) return { kind };
    const note = /^it was denied: (.*)$/s.exec(reason)?.[1];
    return { kind: 'denied', ...(note !== undefined && { note }) };
  }
}
