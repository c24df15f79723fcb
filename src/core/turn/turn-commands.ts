import type { Image } from '../conversation/image.ts';
import type { ErrorBody } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import type { IdempotencyKey } from '../request/request-events.ts';
import type { WhenBusy } from '../session/when-busy.ts';
import type { RequestedCall } from '../tool-call/tool-call-commands.ts';
import type { TraceContext } from '../trace.ts';
import type { FinishReason, ModelSource, StepPart, TokenUsage } from './reply-parts.ts';
import type { FailureCause } from './turn-causes.ts';

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

/** The process came back and found the turn open. */
export interface ResumeTurn {
  readonly type: 'turn.resume';
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

export interface FailTurn {
  readonly type: 'turn.fail';
  readonly turnId: TurnId;
  readonly cause: FailureCause;
  readonly error: ErrorBody;
  readonly partial: string;
}
