import type { ErrorBody } from '../core/errors.ts';
import type { SessionEvent, SessionEventOf } from '../core/log/events.ts';
import type { IdempotencyKey } from '../core/request/request-events.ts';
import type { OpenTurn } from '../core/session/session-state.ts';
import type { ToolOutcome } from '../core/tool-call/tool.ts';
import type { AnswerApproval, RequestedCall } from '../core/tool-call/tool-call-commands.ts';
import { DELETED, denialIn, INTERRUPTED, RESET } from '../core/turn/ending-reasons.ts';
import type { FinishReason, ModelSource, StepPart, TokenUsage } from '../core/turn/reply-parts.ts';
import { callIdsOf } from '../core/turn/step-parts.ts';
import type { StartTurn } from '../core/turn/turn-commands.ts';
import { limitNamedIn } from '../core/turn/turn-failure.ts';
import { recordedCalls } from './recorded-calls.ts';

/** What the model answered in one step. */
export interface RecordedReply {
  readonly parts: readonly StepPart[];
  readonly calls: readonly RequestedCall[];
  readonly source: ModelSource | null;
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
}

/**
 * What reached a session from outside and made an event of its log come about. `said` is what the running step had
 * streamed by then.
 */
export type RecordedCause =
  | { readonly type: 'message'; readonly message: Omit<StartTurn, 'partial'>; readonly said: string }
  | { readonly type: 'cancel'; readonly turnId: string; readonly reason: string; readonly said: string }
  | { readonly type: 'reset'; readonly key: IdempotencyKey | undefined; readonly said: string }
  | { readonly type: 'deletion'; readonly said: string }
  | { readonly type: 'approval'; readonly answer: AnswerApproval }
  /** The service stopped and came back. */
  | { readonly type: 'restart' }
  | { readonly type: 'reply'; readonly reply: RecordedReply }
  | { readonly type: 'model-failure'; readonly error: ErrorBody; readonly said: string }
  | {
      readonly type: 'time-out';
      readonly error: ErrorBody;
      readonly stepTimeoutMs: number;
      readonly said: string;
    }
  | { readonly type: 'result'; readonly callId: string; readonly outcome: ToolOutcome }
  /** Such an event comes together with others before it, or from the turn itself. */
  | { readonly type: 'none' };

const NONE: RecordedCause = { type: 'none' };

/** Nothing comes before these in what one cause makes. */
const ALWAYS_FIRST: ReadonlySet<SessionEvent['type']> = new Set([
  'turn.requested',
  'turn.resumed',
  'step.completed',
  'approval.granted',
  'tool-call.succeeded',
]);

/** The recording from `begin` on, as far as the cause can reach that begins there. */
export function reachOfCause(
  recording: readonly SessionEvent[],
  begin: number,
  end: number,
): readonly SessionEvent[] {
  let next = begin + 1;
  for (let event = recording[next]; event && next < end; event = recording[next]) {
    if (ALWAYS_FIRST.has(event.type)) break;
    next += 1;
  }
  return recording.slice(begin, next);
}

/** Which cause begins with the first of the events in its reach; `open` is the turn that is open before them. */
export function recordedCause(events: readonly SessionEvent[], open: OpenTurn | null): RecordedCause {
  const [event] = events;
  if (!event) return NONE;
  switch (event.type) {
    case 'turn.requested':
      return messageCause(event, events.slice(1), open);
    case 'turn.resumed':
      return { type: 'restart' };
    case 'step.completed':
      return { type: 'reply', reply: recordedReply(event, events.slice(1)) };
    case 'approval.granted': {
      const { callId, argumentsHash } = event;
      return approvalCause({ callId, approved: true, argumentsHash });
    }
    case 'tool-call.succeeded':
      return {
        type: 'result',
        callId: event.callId,
        outcome: { status: 'succeeded', result: event.result },
      };
    case 'tool-call.failed':
      return open?.awaiting.has(event.callId) ? unapprovedCause(event, events) : failedCallCause(event);
    case 'turn.failed':
      return failureCause(event);
    case 'tool-call.interrupted':
    case 'turn.cancelled':
      return closingCause(event, events);
    case 'session.reset':
      return { type: 'reset', key: event.key, said: '' };
    case 'session.deleted':
      return { type: 'deletion', said: '' };
    case 'turn.started':
    case 'tool-call.requested':
    case 'approval.requested':
    case 'turn.completed':
    case 'session.forked':
      return NONE;
    default:
      return event satisfies never;
  }
}

/** The message says itself what to do when the session is busy, so that no setting has a say. */
function messageCause(
  { turnId, text, image, key, trace }: SessionEventOf<'turn.requested'>,
  following: readonly SessionEvent[],
  open: OpenTurn | null,
): RecordedCause {
  const ending = open && endingIn(following);
  const interrupted =
    ending?.type === 'turn.cancelled' && ending.turnId === open?.turnId && ending.reason === INTERRUPTED;
  return {
    type: 'message',
    message: {
      type: 'turn.start',
      turnId,
      text,
      ...(image && { image }),
      ...(trace && { trace }),
      ...(key && { key }),
      whenBusy: interrupted ? 'interrupt' : 'enqueue',
    },
    said: interrupted ? ending.partial : '',
  };
}

function recordedReply(
  { parts, source, finishReason, usage }: SessionEventOf<'step.completed'>,
  following: readonly SessionEvent[],
): RecordedReply {
  const calls = recordedCalls(callIdsOf(parts), following);
  return { parts, calls, source, ...(finishReason && { finishReason }), ...(usage && { usage }) };
}

function approvalCause(answer: Omit<AnswerApproval, 'type'>): RecordedCause {
  return { type: 'approval', answer: { type: 'approval.answer', ...answer } };
}

/** A call that waited for approval failed: it was denied, or given up with its turn. */
function unapprovedCause(
  event: SessionEventOf<'tool-call.failed'>,
  events: readonly SessionEvent[],
): RecordedCause {
  const denied = denialIn(event.reason);
  if (!denied) return closingCause(event, events);
  return approvalCause({ callId: event.callId, approved: false, ...denied });
}

function failedCallCause({ callId, reason, result }: SessionEventOf<'tool-call.failed'>): RecordedCause {
  return { type: 'result', callId, outcome: { status: 'failed', reason, ...(result && { result }) } };
}

function failureCause({ error, partial: said }: SessionEventOf<'turn.failed'>): RecordedCause {
  const named = limitNamedIn(error.details.reason);
  if (!named) return { type: 'model-failure', error, said };
  switch (named.failure) {
    case 'step-limit':
      return NONE;
    case 'step-timeout':
      return { type: 'time-out', error, stepTimeoutMs: named.limit, said };
    default:
      return named.failure satisfies never;
  }
}

/** Somebody ended the turn, perhaps with the whole conversation. */
function closingCause(
  { turnId }: SessionEventOf<'tool-call.interrupted' | 'tool-call.failed' | 'turn.cancelled'>,
  events: readonly SessionEvent[],
): RecordedCause {
  const ending = endingIn(events);
  if (ending?.type !== 'turn.cancelled') return { type: 'cancel', turnId, reason: '', said: '' };
  const { reason, partial: said } = ending;
  switch (reason) {
    case RESET:
      return { type: 'reset', key: keyOfReset(events), said };
    case DELETED:
      return { type: 'deletion', said };
    default:
      return { type: 'cancel', turnId: ending.turnId, reason, said };
  }
}

/** What follows the calls that are given up with their turn. */
function endingIn(events: readonly SessionEvent[]): SessionEvent | undefined {
  return events.find((event) => event.type !== 'tool-call.interrupted' && event.type !== 'tool-call.failed');
}

function keyOfReset(events: readonly SessionEvent[]): IdempotencyKey | undefined {
  return events.find((event) => event.type === 'session.reset')?.key;
}
