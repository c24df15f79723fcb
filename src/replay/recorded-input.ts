import type { GivenMessage } from '../core/conversation/given-message.ts';
import type { ErrorBody } from '../core/errors.ts';
import type { SessionEvent, SessionEventOf } from '../core/log/events.ts';
import type { IdempotencyKey } from '../core/request/request-events.ts';
import type { SessionMetadata } from '../core/session/session-metadata.ts';
import type { OpenTurn } from '../core/session/session-state.ts';
import type {
  AnswerInput,
  ExpireInput,
  RecordSampling,
  RequestInput,
  WithdrawInput,
} from '../core/tool-call/input-commands.ts';
import type { ToolOutcome } from '../core/tool-call/tool.ts';
import type {
  AnswerApproval,
  ExpireApproval,
  ExpireToolCall,
  RequestedCall,
} from '../core/tool-call/tool-call-commands.ts';
import type { FinishReason, ModelSource, StepPart, TokenUsage } from '../core/turn/reply-parts.ts';
import { callIdsOf } from '../core/turn/step-parts.ts';
import type { StartTurn } from '../core/turn/turn-commands.ts';
import type { LimitCause } from '../core/turn/turn-limits.ts';
import { recordedCalls } from './recorded-calls.ts';

/** The reply of the model in one step. */
export interface RecordedReply {
  readonly parts: readonly StepPart[];
  readonly calls: readonly RequestedCall[];
  readonly source: ModelSource | null;
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
  /** Why it did not have the form that the client wanted. */
  readonly outputIssue?: string;
}

/** Something from outside that caused events. `said` is the text that the running step had streamed by then. */
export type RecordedInput =
  | { readonly type: 'message'; readonly message: Omit<StartTurn, 'partial'>; readonly said: string }
  | { readonly type: 'cancel'; readonly turnId: string; readonly reason: string; readonly said: string }
  | { readonly type: 'reset'; readonly key: IdempotencyKey | undefined; readonly said: string }
  | { readonly type: 'rename'; readonly title: string | null }
  | { readonly type: 'description'; readonly metadata: SessionMetadata }
  | { readonly type: 'extension'; readonly given: readonly GivenMessage[] }
  | { readonly type: 'deletion'; readonly said: string }
  | { readonly type: 'approval'; readonly answer: AnswerApproval }
  | { readonly type: 'answer'; readonly answer: AnswerInput }
  | { readonly type: 'expiry'; readonly expired: ExpireApproval | ExpireToolCall | ExpireInput }
  /** A tool server asked something, or does not wait for the answer any more. */
  | { readonly type: 'question'; readonly command: RequestInput | WithdrawInput | RecordSampling }
  /** The service stopped and came back. */
  | { readonly type: 'restart' }
  | { readonly type: 'reply'; readonly reply: RecordedReply }
  | { readonly type: 'model-failure'; readonly error: ErrorBody; readonly said: string }
  | {
      readonly type: 'time-out';
      readonly cause: Extract<LimitCause, { kind: 'step-timeout' }>;
      readonly error: ErrorBody;
      readonly said: string;
    }
  | { readonly type: 'result'; readonly callId: string; readonly outcome: ToolOutcome }
  /** Nothing from outside: the event came together with earlier ones, or from the turn itself. */
  | { readonly type: 'none' };

const NONE: RecordedInput = { type: 'none' };

/** An event of these types is always the first that its input caused. */
const ALWAYS_FIRST: ReadonlySet<SessionEvent['type']> = new Set([
  'turn.requested',
  'turn.resumed',
  'step.completed',
  'approval.granted',
  'input.requested',
  'sampling.completed',
  'tool-call.succeeded',
  'session.renamed',
  'session.described',
  'session.extended',
]);

/** The events from `begin` on that one input can have caused. Some at the end may belong to the next input. */
export function reachOfInput(
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

/** The input that caused the first of the events. @param events from `reachOfInput` @param open the turn before them */
export function recordedInput(events: readonly SessionEvent[], open: OpenTurn | null): RecordedInput {
  const [event] = events;
  if (!event) return NONE;
  switch (event.type) {
    case 'turn.requested':
      return messageInput(event, events.slice(1), open);
    case 'turn.resumed':
      return { type: 'restart' };
    case 'step.completed':
      return { type: 'reply', reply: recordedReply(event, events.slice(1)) };
    case 'approval.granted': {
      const { callId, argumentsHash } = event;
      return approvalInput({ callId, approved: true, argumentsHash });
    }
    case 'input.requested':
      return { type: 'question', command: questionOf(event) };
    case 'input.answered':
      return answeredInput(event, events);
    case 'sampling.completed': {
      const { turnId, callId, source, finishReason, usage } = event;
      return {
        type: 'question',
        command: { type: 'sampling.record', turnId, callId, source, finishReason, usage },
      };
    }
    case 'tool-call.succeeded':
      return {
        type: 'result',
        callId: event.callId,
        outcome: { status: 'succeeded', result: event.result },
      };
    case 'tool-call.failed':
      return failedCallInput(event, events);
    case 'turn.failed':
      return failureInput(event);
    case 'tool-call.interrupted':
    case 'turn.cancelled':
      return closingInput(event, events);
    case 'session.reset':
      return { type: 'reset', key: event.key, said: '' };
    case 'session.renamed':
      return { type: 'rename', title: event.title };
    case 'session.described':
      return { type: 'description', metadata: event.metadata };
    case 'session.extended':
      return { type: 'extension', given: event.given };
    case 'session.deleted':
      return { type: 'deletion', said: '' };
    case 'turn.started':
    case 'tool-call.requested':
    case 'approval.requested':
    case 'tool-call.delegated':
    case 'output.rejected':
    case 'turn.completed':
    case 'session.forked':
      return NONE;
    default:
      return event satisfies never;
  }
}

/** The message has a `whenBusy` of its own, so that the settings of the agent do not matter. */
function messageInput(
  { turnId, text, image, given, options, key, trace }: SessionEventOf<'turn.requested'>,
  following: readonly SessionEvent[],
  open: OpenTurn | null,
): RecordedInput {
  const ending = open && endingIn(following);
  const interrupted =
    ending?.type === 'turn.cancelled' &&
    ending.cause.kind === 'interrupted' &&
    ending.cause.byTurnId === turnId;
  return {
    type: 'message',
    message: {
      type: 'turn.start',
      turnId,
      text,
      ...(image && { image }),
      ...(given && { given }),
      ...(options && { options }),
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
  const outputIssue = issueIn(following[0]);
  return {
    parts,
    calls,
    source,
    ...(finishReason && { finishReason }),
    ...(usage && { usage }),
    ...(outputIssue !== undefined && { outputIssue }),
  };
}

/** Why the reply before this event was rejected. */
function issueIn(event: SessionEvent | undefined): string | undefined {
  if (event?.type === 'output.rejected') return event.issue;
  return event?.type === 'turn.failed' && event.cause.kind === 'output' ? event.cause.issue : undefined;
}

function approvalInput(answer: Omit<AnswerApproval, 'type'>): RecordedInput {
  return { type: 'approval', answer: { type: 'approval.answer', ...answer } };
}

function questionOf({ toolName, serverId, ...asked }: SessionEventOf<'input.requested'>): RequestInput {
  return { ...asked, type: 'input.request' };
}

function answeredInput(
  event: SessionEventOf<'input.answered'>,
  events: readonly SessionEvent[],
): RecordedInput {
  const { turnId, inputId, action, content, cause } = event;
  switch (cause.kind) {
    case 'answered':
      return { type: 'answer', answer: { type: 'input.answer', inputId, action, content } };
    case 'input-expired':
      return { type: 'expiry', expired: { type: 'input.expire', turnId, inputId } };
    case 'input-withdrawn':
      return { type: 'question', command: { type: 'input.withdraw', turnId, inputId } };
    case 'turn-cancelled':
    case 'turn-failed':
    // What a restart ends comes with it. If a fork or a repair has cut the restart off, the turn ends.
    case 'service-stopped':
      return closingInput(event, events);
    default:
      return cause satisfies never;
  }
}

function failedCallInput(
  event: SessionEventOf<'tool-call.failed'>,
  events: readonly SessionEvent[],
): RecordedInput {
  const { turnId, callId, cause, reason, result } = event;
  switch (cause.kind) {
    case 'denied':
      return approvalInput({
        callId,
        approved: false,
        ...(cause.note !== undefined && { reason: cause.note }),
      });
    case 'approval-expired':
      return { type: 'expiry', expired: { type: 'approval.expire', turnId, callId } };
    case 'client-expired':
      return { type: 'expiry', expired: { type: 'tool-call.expire', turnId, callId } };
    case 'turn-cancelled':
    case 'turn-failed':
      return closingInput(event, events);
    case 'tool':
    // A rejected call comes with its step. If a fork or a repair has cut the step off, the failure is a result.
    case 'rejected':
    case 'unrecorded':
      return { type: 'result', callId, outcome: { status: 'failed', reason, ...(result && { result }) } };
    default:
      return cause satisfies never;
  }
}

function failureInput({ cause, error, partial: said }: SessionEventOf<'turn.failed'>): RecordedInput {
  switch (cause.kind) {
    case 'step-limit':
    case 'output':
      return NONE;
    case 'step-timeout':
      return { type: 'time-out', cause, error, said };
    case 'model':
    case 'unrecorded':
      return { type: 'model-failure', error, said };
    default:
      return cause satisfies never;
  }
}

/** Somebody cancelled the turn, or reset or deleted the whole session. */
function closingInput(
  {
    turnId,
  }: SessionEventOf<'input.answered' | 'tool-call.interrupted' | 'tool-call.failed' | 'turn.cancelled'>,
  events: readonly SessionEvent[],
): RecordedInput {
  const ending = endingIn(events);
  if (ending?.type !== 'turn.cancelled') return { type: 'cancel', turnId, reason: '', said: '' };
  const { reason, cause, partial: said } = ending;
  switch (cause.kind) {
    case 'session-reset':
      return { type: 'reset', key: keyOfReset(events), said };
    case 'session-deleted':
      return { type: 'deletion', said };
    case 'cancelled':
    case 'interrupted':
    case 'session-forked':
    case 'session-repaired':
    case 'unrecorded':
      return { type: 'cancel', turnId: ending.turnId, reason, said };
    default:
      return cause satisfies never;
  }
}

/** The event that ends the turn, behind the ends of its calls and of what their servers asked. */
function endingIn(events: readonly SessionEvent[]): SessionEvent | undefined {
  return events.find(({ type }) => !ENDS_OF_CALLS.has(type));
}

const ENDS_OF_CALLS: ReadonlySet<SessionEvent['type']> = new Set([
  'input.answered',
  'tool-call.interrupted',
  'tool-call.failed',
]);

function keyOfReset(events: readonly SessionEvent[]): IdempotencyKey | undefined {
  return events.find((event) => event.type === 'session.reset')?.key;
}
