import { z } from 'zod';
import { McpServerConfig } from './agent-config.ts';
import { ErrorBody } from './errors.ts';
import { CallId, SessionId, TurnId } from './ids.ts';
import { Image } from './image.ts';
import { FinishReason, ModelSource, StepPart, TokenUsage } from './reply-parts.ts';
import { ToolResult } from './tool.ts';
import { TraceContext } from './trace.ts';

/*
 * Durable events: the facts of one session, in the order they became true. Never edited, never removed.
 */

/** What a client may send to say that two messages are the same one. Forgotten after `expiresAt` (ms since the epoch). */
export const IdempotencyKey = z.object({ id: z.string(), fingerprint: z.string(), expiresAt: z.int() });
export type IdempotencyKey = z.infer<typeof IdempotencyKey>;

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

const ToolCallRef = { turnId: TurnId, callId: CallId, toolName: z.string(), serverId: z.string().nullable() };

/** The model asked for a tool. `name` is the name the model used; `serverId` is null when no server offers it. */
export const ToolCallRequested = z.object({
  type: z.literal('tool-call.requested'),
  ...ToolCallRef,
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  repeatable: z.boolean(),
});

/** The call is not begun before somebody approves it. `argumentsHash`: SHA-256 of the arguments' canonical JSON (RFC 8785), in hex. */
export const ApprovalRequested = z.object({
  type: z.literal('approval.requested'),
  ...ToolCallRef,
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
});

/** Exactly these arguments may be executed. (A call that is denied is settled as failed.) */
export const ApprovalGranted = z.object({
  type: z.literal('approval.granted'),
  ...ToolCallRef,
  argumentsHash: z.string(),
});

export const ToolCallSucceeded = z.object({
  type: z.literal('tool-call.succeeded'),
  ...ToolCallRef,
  result: ToolResult,
});

export const ToolCallFailed = z.object({
  type: z.literal('tool-call.failed'),
  ...ToolCallRef,
  reason: z.string(),
  result: ToolResult.optional(),
});

/** The call was begun, and nobody knows whether it took effect. */
export const ToolCallInterrupted = z.object({
  type: z.literal('tool-call.interrupted'),
  ...ToolCallRef,
  reason: z.string(),
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
  error: ErrorBody,
  ...partialText,
});

export const TurnCancelled = z.object({
  type: z.literal('turn.cancelled'),
  turnId: TurnId,
  reason: z.string(),
  ...partialText,
});

/** The conversation starts over: what came before is no longer shown to the model. */
export const SessionReset = z.object({ type: z.literal('session.reset'), key: IdempotencyKey.optional() });

/** This session began as a copy of another one's events up to `at`. Its own follow. */
export const SessionForked = z.object({
  type: z.literal('session.forked'),
  from: SessionId,
  at: z.int().min(1),
});

/** The session is to be erased; nothing follows. */
export const SessionDeleted = z.object({ type: z.literal('session.deleted') });

export const SessionEvent = z.discriminatedUnion('type', [
  TurnRequested,
  TurnStarted,
  TurnResumed,
  StepCompleted,
  ToolCallRequested,
  ApprovalRequested,
  ApprovalGranted,
  ToolCallSucceeded,
  ToolCallFailed,
  ToolCallInterrupted,
  TurnCompleted,
  TurnFailed,
  TurnCancelled,
  SessionReset,
  SessionForked,
  SessionDeleted,
]);
export type SessionEvent = z.infer<typeof SessionEvent>;

/*
 * Facts of the service itself, in a stream of their own.
 */

/** A tool server was connected at run time; the next start connects it again. `secretId` tells the stream of its configuration. */
export const McpServerRegistered = z.object({
  type: z.literal('mcp-server.registered'),
  name: z.string(),
  secretId: z.string(),
});

/** The same as version 0.1.0 wrote it, with the secrets of the configuration in clear. Only read, never written. */
export const McpServerAdded = z.object({
  type: z.literal('mcp-server.added'),
  name: z.string(),
  config: McpServerConfig,
});

/** What must not stand in the log in clear, encrypted. It has a stream of its own, to be erased with it. */
export const SecretKept = z.object({ type: z.literal('secret.kept'), sealed: z.string() });

export const McpServerRemoved = z.object({ type: z.literal('mcp-server.removed'), name: z.string() });

/*
 * Facts of one request that came with an idempotency key, in a stream of its own: begun, then how it ended.
 */

/** It is about to be done. `repeatable`: doing it twice does no more than doing it once. */
export const RequestBegun = z.object({
  type: z.literal('request.begun'),
  key: IdempotencyKey,
  repeatable: z.boolean(),
});

/** `answer` is what its handler gave, if anything; it goes through that one's schema when it is read. */
export const RequestAnswered = z.object({
  type: z.literal('request.answered'),
  answer: z.unknown().optional(),
});

/** It was tried. A request that was refused before anything was done leaves no trace instead. */
export const RequestFailed = z.object({ type: z.literal('request.failed'), error: ErrorBody });

export const ServiceEvent = z.discriminatedUnion('type', [
  McpServerAdded,
  McpServerRegistered,
  SecretKept,
  McpServerRemoved,
  RequestBegun,
  RequestAnswered,
  RequestFailed,
]);
export type ServiceEvent = z.infer<typeof ServiceEvent>;

/** All that stands in the log. */
export const LoggedEvent = z.discriminatedUnion('type', [...SessionEvent.options, ...ServiceEvent.options]);
export type LoggedEvent = z.infer<typeof LoggedEvent>;

const serviceTypes: ReadonlySet<string> = new Set(
  ServiceEvent.options.map((option) => option.shape.type.value),
);

export function isSessionEvent(event: LoggedEvent): event is SessionEvent {
  return !serviceTypes.has(event.type);
}

export type SessionEventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

/**
 * Ephemeral: a piece of what the model thinks aloud, on the bus only. `offset` counts UTF-16 code units from the start
 * of what this step has thought.
 */
export interface ReplyReasoning {
  readonly type: 'reply.reasoning';
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly offset: number;
  readonly content: string;
}

/**
 * Ephemeral: a piece of the reply, on the bus only. `offset` counts UTF-16 code units from the start of
 * what this step has streamed, its separator included; the durable `step.completed` has the whole of it.
 */
export interface ReplyChunk {
  readonly type: 'reply.chunk';
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly offset: number;
  readonly content: string;
}
