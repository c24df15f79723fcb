import type { CallId, TurnId } from '../ids.ts';
import type { FinishReason, ModelSource, TokenUsage } from '../turn/reply-parts.ts';
import type { InputAction, InputId, InputQuestion } from './input-events.ts';

/** The server of a running call asks a person something. */
export interface RequestInput {
  readonly type: 'input.request';
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly inputId: InputId;
  readonly message: string;
  readonly question: InputQuestion;
  /** How long the question waits; for ever if absent. */
  readonly expiresAfterMs?: number | undefined;
}

/** A person answers a question. */
export interface AnswerInput {
  readonly type: 'input.answer';
  readonly inputId: InputId;
  readonly action: InputAction;
  /** Only with `accept` of a form. */
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/** The time in which somebody could answer is over. */
export interface ExpireInput {
  readonly type: 'input.expire';
  readonly turnId: TurnId;
  readonly inputId: InputId;
}

/** The tool server does not wait for the answer any more. */
export interface WithdrawInput {
  readonly type: 'input.withdraw';
  readonly turnId: TurnId;
  readonly inputId: InputId;
}

/** The agent's model answered the server of a running call. */
export interface RecordSampling {
  readonly type: 'sampling.record';
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly source: ModelSource | null;
  readonly finishReason?: FinishReason | undefined;
  readonly usage?: TokenUsage | undefined;
}
