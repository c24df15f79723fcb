import type { CallId, TurnId } from '../ids.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { ToolOutcome } from './tool.ts';

/** A tool call of a completed step, resolved against the tools that the model was offered. */
export interface RequestedCall {
  readonly callId: CallId;
  readonly name: string;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly arguments: Record<string, unknown>;
  readonly repeatable: boolean;
  /** The policy of the agent file for calls of this tool. */
  readonly policy: ApprovalPolicy;
  /** The client lent the tool, and runs it. */
  readonly byClient?: true;
  /** How long the call waits for its approval, or for the client, if it must; for ever if absent. */
  readonly expiresAfterMs?: number;
  /** SHA-256 of the arguments' canonical JSON (RFC 8785), in hex. */
  readonly argumentsHash: string;
  /** Why the call cannot run, if it cannot. */
  readonly problem?: string;
}

/** Somebody approves or denies a call that waits for approval. */
export interface AnswerApproval {
  readonly type: 'approval.answer';
  readonly callId: CallId;
  readonly approved: boolean;
  /** Hash of the arguments that the approver saw. The command is refused if the call has other arguments. */
  readonly argumentsHash?: string | undefined;
  /** Why it was denied; the model is told. */
  readonly reason?: string | undefined;
}

/** The time in which somebody could approve a call is over. */
export interface ExpireApproval {
  readonly type: 'approval.expire';
  readonly turnId: TurnId;
  readonly callId: CallId;
}

/** The client that lent a tool says what came of a call of it. */
export interface AnswerToolCall {
  readonly type: 'tool-call.answer';
  readonly callId: CallId;
  readonly outcome: ToolOutcome;
}

/** The time in which the client could answer a call is over. */
export interface ExpireToolCall {
  readonly type: 'tool-call.expire';
  readonly turnId: TurnId;
  readonly callId: CallId;
}

/** A tool call has ended. */
export interface SettleToolCall {
  readonly type: 'tool-call.settle';
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly outcome: ToolOutcome;
}
