import { z } from 'zod';
import { GivenMessage } from '../conversation/given-message.ts';
import { Image } from '../conversation/image.ts';
import { ErrorBody } from '../errors.ts';
import { CallId, TurnId } from '../ids.ts';
import { IdempotencyKey } from '../request/request-events.ts';
import { InputRequested } from '../tool-call/input-events.ts';
import { ApprovalRequested, ToolCallDelegated, ToolCallRequested } from '../tool-call/tool-call-events.ts';
import { TraceContext } from '../trace.ts';
import { FinishReason, ModelSource, OpaqueData, spokenParts } from '../turn/reply-parts.ts';
import { TurnOptions } from '../turn/turn-options.ts';
import { SessionMetadata } from './session-metadata.ts';

/*
 * The schemas of a snapshot, which is the stored state of a session. The objects are strict: a snapshot with an unknown
 * field is ignored, and the session is folded from the log instead. They are made when the first snapshot is read.
 */

/** Raise it when the shape of the state changes, or when the same events fold to another state. */
export const SNAPSHOT_VERSION = 5;

/** Identifies the event that a snapshot was taken after: another log may have another event at this seq. */
export const EventMark = z.strictObject({
  seq: z.int().min(1),
  time: z.int(),
  type: z.string(),
  turnId: TurnId.nullable(),
});
export type EventMark = z.infer<typeof EventMark>;

/** The first part of a snapshot. */
export const SnapshotHead = z.lazy(headSchema);
export type SnapshotHead = z.infer<ReturnType<typeof headSchema>>;

/** Each further part of a snapshot: the next items of one of the lists. */
export const SnapshotPage = z.lazy(pageSchema);

function headSchema() {
  const turn = {
    turnId: TurnId,
    text: z.string(),
    image: Image.exactOptional(),
    key: z.string().exactOptional(),
    options: TurnOptions.exactOptional(),
    trace: TraceContext.exactOptional(),
  };

  const openTurn = z.strictObject({
    ...turn,
    attempt: z.int(),
    step: z.int(),
    reply: z.string(),
    unsettled: z.array(ToolCallRequested),
    awaiting: z.array(ApprovalRequested),
    delegated: z.array(ToolCallDelegated).exactOptional(),
    asked: z.array(InputRequested).exactOptional(),
    isAskedAgain: z.literal(true).exactOptional(),
  });

  /** The state without the lists that grow with the conversation. */
  const foldedState = z.strictObject({
    seq: z.int().min(1),
    title: z.strictObject({ given: z.string().nullable(), derived: z.string().nullable() }),
    metadata: SessionMetadata.exactOptional(),
    refusals: z.strictObject({ inARow: z.int(), maxTokens: z.int().nullable() }),
    waiting: z.array(z.strictObject({ ...turn, given: z.array(GivenMessage).exactOptional() })),
    open: openTurn.nullable(),
    counts: z.strictObject({
      requested: z.int(),
      completed: z.int(),
      failed: z.int(),
      cancelled: z.int(),
      toolCalls: z.int(),
    }),
    deleted: z.boolean(),
  });
  return z.strictObject({ version: z.literal(SNAPSHOT_VERSION), after: EventMark, state: foldedState });
}

function pageSchema() {
  const leftOut = z.literal(true).exactOptional();

  const messagePart = z.discriminatedUnion('type', [
    ...spokenParts,
    z.strictObject({
      type: z.literal('toolCall'),
      callId: CallId,
      name: z.string(),
      arguments: z.record(z.string(), z.unknown()),
      opaque: OpaqueData.optional(),
    }),
  ]);

  const message = z.discriminatedUnion('role', [
    z.strictObject({
      role: z.literal('user'),
      text: z.string(),
      images: z.array(Image).exactOptional(),
      imagesLeftOut: leftOut,
      leftOut,
      correction: z.literal(true).exactOptional(),
    }),
    z.strictObject({
      role: z.literal('assistant'),
      parts: z.array(messagePart),
      source: ModelSource.exactOptional(),
      cut: z.enum(['cancelled', 'failed']).exactOptional(),
      leftOut,
    }),
    z.strictObject({ role: z.literal('tool'), callId: CallId, name: z.string(), text: z.string(), leftOut }),
  ]);

  const outcome = z.discriminatedUnion('status', [
    z.strictObject({
      status: z.literal('completed'),
      content: z.string(),
      finishReason: FinishReason.exactOptional(),
    }),
    z.strictObject({ status: z.literal('failed'), error: ErrorBody }),
    z.strictObject({ status: z.literal('cancelled'), reason: z.string() }),
  ]);

  const keyedRequest = z.strictObject({
    ...IdempotencyKey.shape,
    turnId: TurnId.nullable(),
    outcome: outcome.exactOptional(),
  });
  return z.union([
    z.strictObject({ transcript: z.array(message) }),
    z.strictObject({ keys: z.array(keyedRequest) }),
  ]);
}
