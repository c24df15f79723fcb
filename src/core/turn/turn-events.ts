import { z } from 'zod';
import { Image } from '../conversation/image.ts';
import { ErrorBody } from '../errors.ts';
import { TurnId } from '../ids.ts';
import { type Upcaster, withoutCause } from '../log/upcaster.ts';
import { IdempotencyKey } from '../request/request-events.ts';
import { TraceContext } from '../trace.ts';
import { FinishReason, ModelSource, StepPart, TokenUsage } from './reply-parts.ts';
import { CancellationCause, FailureCause } from './turn-causes.ts';

/* The facts of a turn: one message of the user up to its settled answer. */

/** A message was accepted. From here on it is never lost. */
export const TurnRequested = z.object({
  type: z.literal('turn.requested'),
  turnId: TurnId,
  text: z.string(),
  image: Image.optional(),
  key: IdempotencyKey.optional(),
  /** The distributed trace that the message came with. */
  trace: TraceContext.optional(),
});

/** Its turn came: the agent begins to work on it. */
export const TurnStarted = z.object({ type: z.literal('turn.started'), turnId: TurnId });

/** The process had stopped in the middle; the turn goes on from its last durable step. */
export const TurnResumed = z.object({
  type: z.literal('turn.resumed'),
  turnId: TurnId,
  attempt: z.int().min(2),
});

/**
 * One model call ended. `parts` is what the model answered, in its order. `separator` was streamed before the text, to
 * part it from what earlier steps of the turn have said. `source` is null in logs that do not tell which model it was.
 */
export const StepCompleted = z.object({
  type: z.literal('step.completed'),
  turnId: TurnId,
  step: z.int().min(1),
  parts: z.array(StepPart),
  separator: z.string().default(''),
  source: ModelSource.nullable(),
  finishReason: FinishReason.optional(),
  usage: TokenUsage.optional(),
});

/** The final reply: the texts of all steps, joined. `finishReason` tells why the last of them ended early. */
export const TurnCompleted = z.object({
  type: z.literal('turn.completed'),
  turnId: TurnId,
  content: z.string(),
  finishReason: FinishReason.optional(),
});

/** What the step that was running had said, and the separator streamed before it. */
const partialText = {
  step: z.int().min(0).default(0),
  separator: z.string().default(''),
  partial: z.string(),
};

export const TurnFailed = z.object({
  type: z.literal('turn.failed'),
  turnId: TurnId,
  cause: FailureCause,
  error: ErrorBody,
  ...partialText,
});

export const TurnCancelled = z.object({
  type: z.literal('turn.cancelled'),
  turnId: TurnId,
  cause: CancellationCause,
  /** For people. */
  reason: z.string(),
  ...partialText,
});

/** Version 2 of a step is a list of parts. Version 1 had its text and, beside it, the ids of its tool calls. */
const partsOfStep: Upcaster = (event) => {
  const { text, callIds, ...others } = event;
  const calls = Array.isArray(callIds) ? callIds : [];
  return {
    ...others,
    parts: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((callId: unknown) => ({ type: 'toolCall', callId })),
    ],
    source: null,
  };
};

export const turnUpcasters = {
  'step.completed': [partsOfStep],
  'turn.failed': [withoutCause],
  'turn.cancelled': [withoutCause],
} as const;
