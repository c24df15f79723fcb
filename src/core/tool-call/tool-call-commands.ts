import type { CallId, TurnId } from '../ids.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { ToolOutcome } from './tool.ts';

/** A tool call of a finished step, resolved against the catalogue. */
export interface RequestedCall {
  readonly callId: CallId;
  readonly name: string;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly arguments: Record<string, unknown>;
  readonly repeatable: boolean;
  /** What the agent file says about calls of this tool. */
  readonly policy: ApprovalPolicy;
  /** SHA-256 of the arguments' canonical JSON (RFC 8785), in hex. */
  readonly argumentsHash: string;
  /** Why the call cannot be run. */
  readonly problem?: string;
}

/** Somebody lets a call that waits for it go ahead, or not. */
export interface AnswerApproval {
  readonly type: 'approval.answer';
  readonly callId: CallId;
  readonly approved: boolean;
  /** What the approver has seen; refused when the call has other arguments. */
  readonly argumentsHash?: string | undefined;
  /** Why it was denied; the model is told. */
  readonly reason?: string | undefined;
}

export interface SettleToolCall {
  readonly type: 'tool-call.settle';
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly outcome: ToolOutcome;
}
