import type { GivenMessage } from '../conversation/given-message.ts';
import type { Image } from '../conversation/image.ts';
import type { ErrorBody } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import type { IdempotencyKey } from '../request/request-events.ts';
import type { WhenBusy } from '../session/when-busy.ts';
import type { RequestedCall } from '../tool-call/tool-call-commands.ts';
import type { TraceContext } from '../trace.ts';
import type { FinishReason, ModelSource, StepPart, TokenUsage } from './reply-parts.ts';
import type { FailureCause } from './turn-causes.ts';
import type { TurnOptions } from './turn-options.ts';

/** The turn that a message is to follow: the newest one that runs or waits, or, if none does, the newest that has ended. */
export interface FollowedTurn {
  readonly turnId: TurnId;
  /** Seq of the last event of the session, as the client knows it. */
  readonly seq: number;
}

/** A message for the agent. It becomes a turn, which starts at once or after the turns before it. */
export interface StartTurn {
  readonly type: 'turn.start';
  readonly turnId: TurnId;
  readonly text: string;
  readonly image?: Image;
  /** The conversation before it, as the client gave it. */
  readonly given?: readonly GivenMessage[];
  readonly options?: TurnOptions;
  /** If absent, `sessions.whenBusy` of the agent file decides. */
  readonly whenBusy?: WhenBusy;
  /** A message with a key that was used before is the same message. */
  readonly key?: IdempotencyKey;
  /** Refused with `SESSION_BUSY` if another message came first. */
  readonly follows?: FollowedTurn;
  /**
   * Refused with `SESSION_BUSY` if it would wait behind a turn that only the results of a client's tools can continue. Their
   * calls are the `clientCalls` of the details.
   */
  readonly notBehindClient?: true;
  /** The distributed trace that the message came with. */
  readonly trace?: TraceContext;
  /** The text that the running step has streamed, in case this message interrupts it. */
  readonly partial?: string;
}

/** Cancel a turn that is open or waiting. */
export interface CancelTurn {
  readonly type: 'turn.cancel';
  readonly turnId: TurnId;
  /** A sentence for people. */
  readonly reason: string;
  /** The text that its running step has streamed. */
  readonly partial: string;
}

/** The session was loaded with an open turn, which continues now. */
export interface ResumeTurn {
  readonly type: 'turn.resume';
}

/** The model call of a step has ended. `calls` are the tool calls among `parts`, in the same order. */
export interface CompleteStep {
  readonly type: 'step.complete';
  readonly turnId: TurnId;
  readonly step: number;
  readonly parts: readonly StepPart[];
  readonly calls: readonly RequestedCall[];
  readonly source: ModelSource | null;
  readonly finishReason?: FinishReason;
  readonly usage?: TokenUsage;
  /** Why the reply does not have the form that the client wants. */
  readonly outputIssue?: string;
}

/** The open turn cannot continue. */
export interface FailTurn {
  readonly type: 'turn.fail';
  readonly turnId: TurnId;
  readonly cause: FailureCause;
  readonly error: ErrorBody;
  /** The text that its running step has streamed. */
  readonly partial: string;
}
