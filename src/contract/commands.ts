import type { WhenBusy } from './agent-config.ts';
import type { ErrorBody } from './errors.ts';
import type { IdempotencyKey } from './events.ts';
import type { CallId, SessionId, TurnId } from './ids.ts';
import type { Image } from './image.ts';
import type { FinishReason, ModelSource, StepPart, TokenUsage } from './reply-parts.ts';
import type { ToolOutcome } from './tool.ts';
import type { TraceContext } from './trace.ts';

/** A message for the agent. Becomes a turn, at once or when the turns before it are settled. */
export interface StartTurn {
  readonly type: 'turn.start';
  readonly turnId: TurnId;
  readonly text: string;
  readonly image?: Image;
  /** As the policy says when left out: `sessions.whenBusy` of the agent file. */
  readonly whenBusy?: WhenBusy;
  /** The same key again, with the same fingerprint, is the same message. */
  readonly key?: IdempotencyKey;
  /** The distributed trace that the message came with. */
  readonly trace?: TraceContext;
  /** What the running step has said, in case this message interrupts it. */
  readonly partial?: string;
}

/** Stop a turn, running or waiting. `partial` is what its running step has said so far. */
export interface CancelTurn {
  readonly type: 'turn.cancel';
  readonly turnId: TurnId;
  readonly reason: string;
  readonly partial: string;
}

/** Forget the conversation; running and waiting turns are cancelled. */
export interface ResetSession {
  readonly type: 'session.reset';
  readonly partial: string;
  readonly key?: IdempotencyKey;
}

/** The session has just been made from another one's past: what ran and waited then does not go on here. */
export interface ForkSession {
  readonly type: 'session.fork';
  readonly from: SessionId;
  readonly at: number;
}

/** The session is to be forgotten, with all that runs and waits in it. */
export interface DeleteSession {
  readonly type: 'session.delete';
  readonly partial: string;
}

/** The process came back and found the turn open. */
export interface ResumeTurn {
  readonly type: 'turn.resume';
}

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

/** The model has answered. `calls` are the tool calls among `parts`, in the same order. */
export interface CompleteStep {
  readonly type: 'step.complete';
  readonly turnId: TurnId;
  readonly step: number;
  readonly parts: readonly StepPart[];
  readonly calls: readonly RequestedCall[];
  readonly source: ModelSource | null;
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
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

export interface FailTurn {
  readonly type: 'turn.fail';
  readonly turnId: TurnId;
  readonly error: ErrorBody;
  readonly partial: string;
}

/** Every wish a session can be told. */
export type SessionCommand =
  | StartTurn
  | CancelTurn
  | ResetSession
  | ForkSession
  | DeleteSession
  | ResumeTurn
  | CompleteStep
  | AnswerApproval
  | SettleToolCall
  | FailTurn;
