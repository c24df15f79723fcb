import { ServiceError } from '../errors.ts';
import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import type { OpenTurn } from '../session/session-state.ts';
import { denial, unapproved } from '../turn/ending-reasons.ts';
import type { ToolOutcome } from './tool.ts';
import type { AnswerApproval, RequestedCall, SettleToolCall } from './tool-call-commands.ts';

/* What becomes true of the tool calls of a turn: the part of the session's decider that knows nothing of other turns. */

export type RequestedCallEvent = SessionEventOf<'tool-call.requested'>;

/** First that they were asked for, then what keeps some of them from running. */
export function requestCalls(turnId: string, calls: readonly RequestedCall[]): SessionEvent[] {
  return [
    ...calls.map((call) => requestCall(turnId, call)),
    ...calls.flatMap((call) => refuseCall(turnId, call)),
    ...calls.flatMap((call) => askForApproval(turnId, call)),
  ];
}

function requestCall(turnId: string, { problem, argumentsHash, ...call }: RequestedCall): SessionEvent {
  return { type: 'tool-call.requested', turnId, ...call };
}

/** A call that cannot be run is settled at once, so that the model is told and can do better. */
function refuseCall(turnId: string, { problem, ...call }: RequestedCall): SessionEvent[] {
  return problem === undefined
    ? []
    : [{ type: 'tool-call.failed', ...refOf({ turnId, ...call }), reason: problem }];
}

function askForApproval(turnId: string, { problem, argumentsHash, ...call }: RequestedCall): SessionEvent[] {
  return problem !== undefined || argumentsHash === undefined
    ? []
    : [
        {
          type: 'approval.requested',
          ...refOf({ turnId, ...call }),
          arguments: call.arguments,
          argumentsHash,
        },
      ];
}

/** Throws when no call of that id waits, or when it has other arguments than those that were looked at. */
export function answerApproval(open: OpenTurn | null, command: AnswerApproval): SessionEvent[] {
  const { callId, approved, reason } = command;
  const call = open?.awaiting.get(callId);
  if (!call) throw approvalNotFound(callId);
  const { argumentsHash } = call;
  if (!approved) return [{ type: 'tool-call.failed', ...refOf(call), reason: denial(reason) }];
  if (command.argumentsHash !== undefined && command.argumentsHash !== argumentsHash)
    throw otherArguments(argumentsHash);
  return [{ type: 'approval.granted', ...refOf(call), argumentsHash }];
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

/** Nothing when the call is settled already, or its turn is over. */
export function settleCall(open: OpenTurn | undefined, command: SettleToolCall): SessionEvent[] {
  const call = open?.unsettled.get(command.callId);
  return call ? [settledCall(call, command.outcome)] : [];
}

function settledCall(call: RequestedCallEvent, outcome: ToolOutcome): SessionEvent {
  const ref = refOf(call);
  switch (outcome.status) {
    case 'succeeded':
      return { type: 'tool-call.succeeded', ...ref, result: outcome.result };
    case 'failed':
      return {
        type: 'tool-call.failed',
        ...ref,
        reason: outcome.reason,
        ...(outcome.result && { result: outcome.result }),
      };
    default:
      return outcome satisfies never;
  }
}

/** Ends the calls that are not settled, or those of them that the filter names. */
export function interruptCalls(
  open: OpenTurn,
  reason: string,
  which: (call: RequestedCallEvent) => boolean = () => true,
): SessionEvent[] {
  return [...open.unsettled.values()]
    .filter(which)
    .map(
      (call): SessionEvent =>
        open.awaiting.has(call.callId)
          ? { type: 'tool-call.failed', ...refOf(call), reason: unapproved(reason) }
          : { type: 'tool-call.interrupted', ...refOf(call), reason },
    );
}

type CallRef = Pick<RequestedCallEvent, 'turnId' | 'callId' | 'toolName' | 'serverId'>;

function refOf({ turnId, callId, toolName, serverId }: CallRef): CallRef {
  return { turnId, callId, toolName, serverId };
}
