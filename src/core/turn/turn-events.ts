import { z } from 'zod';
import { AgentVersion } from '../agent-description.ts';
import { GivenMessage } from '../conversation/given-message.ts';
import { Image } from '../conversation/image.ts';
import { ErrorBody } from '../errors.ts';
import { TurnId } from '../ids.ts';
import { type Upcaster, withoutCause } from '../log/upcaster.ts';
import { IdempotencyKey } from '../request/request-events.ts';
import { TraceContext } from '../trace.ts';
import { FinishReason, ModelSource, StepPart, TokenUsage } from './reply-parts.ts';
import { CancellationCause, FailureCause } from './turn-causes.ts';
import { TurnOptions } from './turn-options.ts';

/*
 * The events of a turn: one message of the user, and all that the agent does until it has answered. A turn consists of
 * steps. A step is one call of the model. If the model asks for tools, they run, and the next step has their results.
 */

/** A message was accepted. From here on, the turn exists and is never lost. */
export const TurnRequested = z.object({
  type: z.literal('turn.requested'),
  turnId: TurnId,
  text: z.string(),
  image: Image.optional(),
  /** The conversation before it, as the client gave it. If it is there, an empty `text` without an image is no message. */
  given: z.array(GivenMessage).optional(),
  options: TurnOptions.optional(),
  key: IdempotencyKey.optional(),
  /** The distributed trace that the message came with. */
  trace: TraceContext.optional(),
});

/** Which version of the agent a turn runs with. Absent in logs of earlier releases. */
const agentVersion = { agentVersion: AgentVersion.optional() };

/** The agent starts to work on the message. Before, the turn may have waited for another one to end. */
export const TurnStarted = z.object({ type: z.literal('turn.started'), turnId: TurnId, ...agentVersion });

/** The service had stopped in the middle of the turn. The turn continues after its last completed step. */
export const TurnResumed = z.object({
  type: z.literal('turn.resumed'),
  turnId: TurnId,
  attempt: z.int().min(2),
  ...agentVersion,
});

/**
 * The model call of a step has ended. `parts` is the reply of the model. `separator` was streamed before its text, to
 * separate it from the texts of earlier steps. `source` is null if the log does not tell which model it was.
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

/** The reply of the step does not have the form that the client wants. The model is told why, and asked once more. */
export const OutputRejected = z.object({
  type: z.literal('output.rejected'),
  turnId: TurnId,
  step: z.int().min(1),
  /** For people and for the model. */
  issue: z.string(),
});

/** `content` is the final reply: the texts of all steps, joined, or that of the last one where a form was asked for. `finishReason` says why the last step ended early. */
export const TurnCompleted = z.object({
  type: z.literal('turn.completed'),
  turnId: TurnId,
  content: z.string(),
  finishReason: FinishReason.optional(),
});

/** The text that the running step had streamed, and the separator before it. A turn that never started has step 0. */
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
  /** A sentence for people. */
  reason: z.string(),
  ...partialText,
});

/** Version 1 of a step had one text and the ids of its tool calls. Version 2 has a list of parts. */
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
