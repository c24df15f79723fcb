import type { CallId, TurnId } from '../ids.ts';
import type { ToolOutcome } from './tool.ts';

/** A tool call of a finished step, resolved against the catalogue. `problem` says why it cannot be run. */
export interface RequestedCall {
  readonly callId: CallId;
  readonly name: string;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly arguments: Record<string, unknown>;
  readonly repeatable: boolean;
  readonly problem?: string;
  /** Set when somebody has to approve the call before it is begun. */
  readonly argumentsHash?: string;
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
