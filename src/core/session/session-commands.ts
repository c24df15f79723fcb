import type { SessionId } from '../ids.ts';
import type { IdempotencyKey } from '../request/request-events.ts';
import type { AnswerApproval, SettleToolCall } from '../tool-call/tool-call-commands.ts';
import type { CancelTurn, CompleteStep, FailTurn, ResumeTurn, StartTurn } from '../turn/turn-commands.ts';

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
