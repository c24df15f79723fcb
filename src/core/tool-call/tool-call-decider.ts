import { ServiceError } from '../errors.ts';
import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import type { OpenTurn } from '../session/session-state.ts';
import {
  denied,
  expired,
  SERVICE_STOPPED,
  TURN_CANCELLED,
  TURN_FAILED,
  unanswered,
  unapproved,
} from '../turn/ending-reasons.ts';
import { endInputs } from './input-decider.ts';
import type { ToolOutcome } from './tool.ts';
import type { CallFailureCause, InterruptionCause } from './tool-call-causes.ts';
import type {
  AnswerApproval,
  AnswerToolCall,
  ExpireApproval,
  ExpireToolCall,
  RequestedCall,
  SettleToolCall,
} from './tool-call-commands.ts';

/* The part of the session's decider that decides about the tool calls of one turn. */

export type RequestedCallEvent = SessionEventOf<'tool-call.requested'>;

/** First all requests, then the rejections, the requests for approval and the delegations: those calls are not run here. */
export function requestCalls(turnId: string, calls: readonly RequestedCall[]): SessionEvent[] {
  return [
    ...calls.map((call) => requestCall(turnId, call)),
    ...calls.flatMap((call) => rejectCall(turnId, call)),
    ...calls.flatMap((call) => askForApproval(turnId, call)),
    ...calls.flatMap((call) => delegate(turnId, call)),
  ];
}

function requestCall(turnId: string, call: RequestedCall): SessionEvent {
  const { policy, argumentsHash, problem, byClient, expiresAfterMs, ...requested } = call;
  return { type: 'tool-call.requested', turnId, ...requested };
}

/** Why a call must not run: the agent may not use the tool, or the call is invalid. */
function problemOf({ policy, problem }: RequestedCall): string | undefined {
  return policy === 'deny' ? 'the agent is not allowed to use this tool' : problem;
}

/** Settles a call that must not run, so that the model learns why. */
function rejectCall(turnId: string, call: RequestedCall): SessionEvent[] {
  const reason = problemOf(call);
  if (reason === undefined) return [];
  return [{ type: 'tool-call.failed', ...refOf({ turnId, ...call }), cause: { kind: 'rejected' }, reason }];
}

function askForApproval(turnId: string, call: RequestedCall): SessionEvent[] {
  if (call.policy !== 'ask' || problemOf(call) !== undefined) return [];
  const { arguments: args, argumentsHash, expiresAfterMs } = call;
  const expiry = expiresAfterMs !== undefined && { expiresAfterMs };
  return [
    { type: 'approval.requested', ...refOf({ turnId, ...call }), arguments: args, argumentsHash, ...expiry },
  ];
}

function delegate(turnId: string, call: RequestedCall): SessionEvent[] {
  if (!call.byClient || problemOf(call) !== undefined) return [];
  const { arguments: args, expiresAfterMs } = call;
  const expiry = expiresAfterMs !== undefined && { expiresAfterMs };
  return [{ type: 'tool-call.delegated', ...refOf({ turnId, ...call }), arguments: args, ...expiry }];
}

/** Throws if no call of that id waits for its client. */
export function answerCall(open: OpenTurn | null, { callId, outcome }: AnswerToolCall): SessionEvent[] {
  const call = open?.delegated.get(callId);
  if (!call) throw callNotFound(callId);
  return [settledCall(call, outcome)];
}

/** Returns no events if the call does not wait any more, or waits for ever. */
export function expireCall(open: OpenTurn | undefined, { callId }: ExpireToolCall): SessionEvent[] {
  const call = open?.delegated.get(callId);
  const { expiresAfterMs: afterMs } = call ?? {};
  if (!call || afterMs === undefined) return [];
  const cause: CallFailureCause = { kind: 'client-expired', afterMs };
  return [{ type: 'tool-call.failed', ...refOf(call), cause, reason: unanswered(afterMs) }];
}

function callNotFound(callId: string): ServiceError {
  return new ServiceError('CALL_NOT_FOUND', 'No tool call of that id waits for a client.', {
    callId,
    reason: 'it was answered, has expired or was cancelled before, or there is no such call',
  });
}

/** Throws if no call of that id waits for approval, or if its arguments are not those that the approver saw. */
export function answerApproval(open: OpenTurn | null, command: AnswerApproval): SessionEvent[] {
  const { callId, approved, reason: note } = command;
  const call = open?.awaiting.get(callId);
  if (!call) throw approvalNotFound(callId);
  const { argumentsHash } = call;
  if (!approved) {
    const cause: CallFailureCause = { kind: 'denied', ...(note !== undefined && { note }) };
    return [{ type: 'tool-call.failed', ...refOf(call), cause, reason: denied(note) }];
  }
  if (command.argumentsHash !== undefined && command.argumentsHash !== argumentsHash)
    throw otherArguments(argumentsHash);
  return [{ type: 'approval.granted', ...refOf(call), argumentsHash }];
}

/** Returns no events if the call does not wait any more, or waits for ever. */
export function expireApproval(open: OpenTurn | undefined, { callId }: ExpireApproval): SessionEvent[] {
  const call = open?.awaiting.get(callId);
  const { expiresAfterMs: afterMs } = call ?? {};
  if (!call || afterMs === undefined) return [];
  const cause: CallFailureCause = { kind: 'approval-expired', afterMs };
  return [{ type: 'tool-call.failed', ...refOf(call), cause, reason: expired(afterMs) }];
}

function approvalNotFound(callId: string): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'No tool call of that id waits for approval.', {
    callId,
    reason: 'it was approved, denied or cancelled before, or there is no such call',
  });
}

function otherArguments(argumentsHash: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The tool call has other arguments than those approved.', {
    field: 'argumentsHash',
    issue: `the hash of the call's arguments is ${argumentsHash}`,
    suggestion: 'Look at the arguments of the toolApproval event and send its argumentsHash.',
  });
}

/** Returns no events if the call is already settled or its turn is over. */
export function settleCall(open: OpenTurn | undefined, command: SettleToolCall): SessionEvent[] {
  const call = open?.unsettled.get(command.callId);
  if (!open || !call) return [];
  const withdrawn = endInputs(open, 'input-withdrawn', (callId) => callId === call.callId);
  return [...withdrawn, settledCall(call, command.outcome)];
}

function settledCall(call: CallRef, outcome: ToolOutcome): SessionEvent {
  const ref = refOf(call);
  switch (outcome.status) {
    case 'succeeded':
      return { type: 'tool-call.succeeded', ...ref, result: outcome.result };
    case 'failed':
      return {
        type: 'tool-call.failed',
        ...ref,
        cause: { kind: 'tool' },
        reason: outcome.reason,
        ...(outcome.result && { result: outcome.result }),
      };
    default:
      return outcome satisfies never;
  }
}

/** Settles the calls that are still open, or those of them that the filter accepts. */
export function interruptCalls(
  open: OpenTurn,
  kind: InterruptionKind,
  which: (call: RequestedCallEvent) => boolean = () => true,
): SessionEvent[] {
  return [...open.unsettled.values()].filter(which).map((call) => interruptCall(open, call, kind));
}

type InterruptionKind = Exclude<InterruptionCause['kind'], 'unrecorded'>;

/** A call that waits for approval never started, so it fails instead: it certainly took no effect. */
function interruptCall(open: OpenTurn, call: RequestedCallEvent, kind: InterruptionKind): SessionEvent {
  const ref = refOf(call);
  const reason = reasons[kind];
  if (kind !== 'service-stopped' && open.awaiting.has(call.callId))
    return { type: 'tool-call.failed', ...ref, cause: { kind }, reason: unapproved(reason) };
  return { type: 'tool-call.interrupted', ...ref, cause: { kind }, reason };
}

const reasons: Readonly<Record<InterruptionKind, string>> = {
  'turn-cancelled': TURN_CANCELLED,
  'turn-failed': TURN_FAILED,
  'service-stopped': SERVICE_STOPPED,
};

type CallRef = Pick<RequestedCallEvent, 'turnId' | 'callId' | 'toolName' | 'serverId'>;

function refOf({ turnId, callId, toolName, serverId }: CallRef): CallRef {
  return { turnId, callId, toolName, serverId };
}
