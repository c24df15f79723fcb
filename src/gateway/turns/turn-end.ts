import { type ErrorBody, ServiceError } from '../../core/errors.ts';
import type { FinishReason } from '../../core/turn/reply-parts.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';

/** A whole reply. `finishReason` is `length` when a token limit cut it. */
export interface TurnReply {
  readonly content: string;
  readonly finishReason?: FinishReason;
}

/** The end of a turn as clients get it: the reply or an error. */
export function endOf(outcome: TurnOutcome): TurnReply | { error: ErrorBody } {
  switch (outcome.status) {
    case 'completed': {
      const { content, finishReason } = outcome;
      return { content, ...(finishReason && { finishReason }) };
    }
    case 'failed':
      return { error: outcome.error };
    case 'cancelled':
      return { error: turnCancelled(outcome.reason).body };
    default:
      return outcome satisfies never;
  }
}

/** Throws the error that ended the turn. */
export function replyOf(outcome: TurnOutcome): TurnReply {
  const end = endOf(outcome);
  if ('content' in end) return end;
  throw ServiceError.of(end.error);
}

export function turnCancelled(reason: string): ServiceError {
  return new ServiceError('TURN_CANCELLED', 'The turn was cancelled before it was answered.', { reason });
}
