import type { GivenMessage } from '../conversation/given-message.ts';
import type { SessionId } from '../ids.ts';
import type { IdempotencyKey } from '../request/request-events.ts';
import type {
  AnswerInput,
  ExpireInput,
  RecordSampling,
  RequestInput,
  WithdrawInput,
} from '../tool-call/input-commands.ts';
import type {
  AnswerApproval,
  AnswerToolCall,
  ExpireApproval,
  ExpireToolCall,
  SettleToolCall,
} from '../tool-call/tool-call-commands.ts';
import type { CancelTurn, CompleteStep, FailTurn, ResumeTurn, StartTurn } from '../turn/turn-commands.ts';
import type { SessionMetadata } from './session-metadata.ts';

/** Clear the conversation. The running turn and the waiting turns are cancelled. */
export interface ResetSession {
  readonly type: 'session.reset';
  /** The text that the running step has streamed. */
  readonly partial: string;
  readonly key?: IdempotencyKey;
}

/** Give the session a title. Null: derive it from the first message again. */
export interface RenameSession {
  readonly type: 'session.rename';
  readonly title: string | null;
}

/** Note something about the session, in place of what was noted before. */
export interface DescribeSession {
  readonly type: 'session.describe';
  readonly metadata: SessionMetadata;
}

/** Add messages to the conversation without a turn. Refused while a turn is open or waits. */
export interface ExtendSession {
  readonly type: 'session.extend';
  readonly given: readonly GivenMessage[];
}

/** Complete a fork of the session `from`: turns that were open or waiting after event `at` do not continue here. */
export interface ForkSession {
  readonly type: 'session.fork';
  readonly from: SessionId;
  readonly at: number;
  readonly ephemeral?: true | undefined;
}

/** End the turns that are open or waiting after the last event that a repair of the log could keep. */
export interface RepairSession {
  readonly type: 'session.repair';
}

/** Delete the session. The running turn and the waiting turns are cancelled. */
export interface DeleteSession {
  readonly type: 'session.delete';
  /** The text that the running step has streamed. */
  readonly partial: string;
  /** Only if the session's last event has this seq. */
  readonly onlyAt?: number | undefined;
}

/** What somebody answers to a call that waits. */
export type AnswerCommand = AnswerApproval | AnswerToolCall | AnswerInput;

/** A command to a session. */
export type SessionCommand =
  | StartTurn
  | CancelTurn
  | ResetSession
  | RenameSession
  | DescribeSession
  | ExtendSession
  | ForkSession
  | RepairSession
  | DeleteSession
  | ResumeTurn
  | CompleteStep
  | AnswerApproval
  | ExpireApproval
  | AnswerToolCall
  | ExpireToolCall
  | RequestInput
  | AnswerInput
  | ExpireInput
  | WithdrawInput
  | RecordSampling
  | SettleToolCall
  | FailTurn;
