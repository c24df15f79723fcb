import { z } from 'zod';
import { FinishReason, ModelSource, TokenUsage } from '../turn/reply-parts.ts';
import { InputContent, InputForm } from './input-form.ts';
import { ToolCallRef } from './tool-call-events.ts';

/*
 * What a tool server asks while it works on a call. A question for a person is `input.requested`, and it ends exactly once,
 * with `input.answered`. What the server asks of the agent's model is `sampling.completed`. Few logs have such events, so
 * their largest schemas are made when they are needed.
 */

/** The id of a question for a person: the id of its call, the attempt of the turn and the number of the question. */
export const InputId = z.string().min(1);
export type InputId = z.infer<typeof InputId>;

/**
 * What a person is asked for. `form`: data. `url`: to visit this address, and say that it was done. `sampling`: whether
 * the server may ask the agent's model this.
 */
export const InputQuestion = z.lazy(() =>
  z.discriminatedUnion('mode', [
    z.object({ mode: z.literal('form'), schema: InputForm }),
    z.object({ mode: z.literal('url'), url: z.string() }),
    z.object({
      mode: z.literal('sampling'),
      systemPrompt: z.string().optional(),
      prompt: z.string().describe('The texts of the messages for the model, one after the other.'),
      maxTokens: z.int(),
    }),
  ]),
);
export type InputQuestion = z.infer<typeof InputQuestion>;

export const InputAction = z
  .enum(['accept', 'decline', 'cancel'])
  .describe(
    '`accept`: with the data, or the consent. `decline`: explicitly no. `cancel`: neither, such as a form that was closed.',
  );
export type InputAction = z.infer<typeof InputAction>;

/** Why a question ended. Without an answer, its action is `cancel`. */
export const InputEndCause = z.lazy(() =>
  z.discriminatedUnion('kind', [
    /** A client answered. The metadata of the event says which client. */
    z.object({ kind: z.literal('answered') }),
    /** Nobody answered in time. */
    z.object({ kind: z.literal('input-expired'), afterMs: z.int().min(1) }),
    /** The tool server does not wait for the answer any more. */
    z.object({ kind: z.literal('input-withdrawn') }),
    z.object({ kind: z.literal('turn-cancelled') }),
    z.object({ kind: z.literal('turn-failed') }),
    /** The process ended, and with it the connection to the server that had asked. */
    z.object({ kind: z.literal('service-stopped') }),
  ]),
);
export type InputEndCause = z.infer<typeof InputEndCause>;

/**
 * The server of a running call asks a person. The call goes on when there is an answer. `expiresAfterMs` counts from the
 * time of this event; without it, the question waits for ever.
 */
export const InputRequested = z.object({
  type: z.literal('input.requested'),
  ...ToolCallRef,
  inputId: InputId,
  message: z.string(),
  question: InputQuestion,
  expiresAfterMs: z.int().min(1).optional(),
});

/** The question has ended. The content of a form is as the server gets it. */
export const InputAnswered = z.object({
  type: z.literal('input.answered'),
  ...ToolCallRef,
  inputId: InputId,
  action: InputAction,
  content: InputContent.optional(),
  cause: InputEndCause,
});

/** The agent's model answered the server of a running call. The log has what this cost, not what was said. */
export const SamplingCompleted = z.object({
  type: z.literal('sampling.completed'),
  ...ToolCallRef,
  source: ModelSource.nullable(),
  finishReason: FinishReason.optional(),
  usage: TokenUsage.optional(),
});
