import { z } from 'zod';
import { CallId, TurnId } from '../ids.ts';
import { withoutCause } from '../log/upcaster.ts';
import { ToolResult } from './tool.ts';
import { CallFailureCause, InterruptionCause } from './tool-call-causes.ts';

/*
 * The events of a tool call. The model requests it, somebody may have to approve it, and it is settled exactly once:
 * succeeded, failed or interrupted.
 */

/** Says which call of which turn an event is about. */
export const ToolCallRef = {
  turnId: TurnId,
  callId: CallId,
  toolName: z.string(),
  serverId: z.string().nullable(),
};

/**
 * The model asked for a tool. `name` is the name that the model used. `serverId` is null if no server offers the tool.
 * `repeatable`: calling the tool twice has the same effect as once.
 */
export const ToolCallRequested = z.object({
  type: z.literal('tool-call.requested'),
  ...ToolCallRef,
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  repeatable: z.boolean(),
});

/**
 * The call waits until somebody approves or denies it. `argumentsHash` is the SHA-256 of the arguments' canonical JSON
 * (RFC 8785), in hex. `expiresAfterMs` counts from the time of this event; without it, the call waits for ever.
 */
export const ApprovalRequested = z.object({
  type: z.literal('approval.requested'),
  ...ToolCallRef,
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
  expiresAfterMs: z.int().min(1).optional(),
});

/** Somebody approved the call with exactly these arguments. A denied call has `tool-call.failed` instead. */
export const ApprovalGranted = z.object({
  type: z.literal('approval.granted'),
  ...ToolCallRef,
  argumentsHash: z.string(),
});

/**
 * The call is for the client that lent the tool to the turn. It waits until that client says what came of it.
 * `expiresAfterMs` counts from the time of this event; without it, the call waits for ever.
 */
export const ToolCallDelegated = z.object({
  type: z.literal('tool-call.delegated'),
  ...ToolCallRef,
  arguments: z.record(z.string(), z.unknown()),
  expiresAfterMs: z.int().min(1).optional(),
});

export const ToolCallSucceeded = z.object({
  type: z.literal('tool-call.succeeded'),
  ...ToolCallRef,
  result: ToolResult,
});

export const ToolCallFailed = z.object({
  type: z.literal('tool-call.failed'),
  ...ToolCallRef,
  cause: CallFailureCause,
  /** For people and for the model. */
  reason: z.string(),
  result: ToolResult.optional(),
});

/** The call started and was given up. Nobody knows whether it took effect. */
export const ToolCallInterrupted = z.object({
  type: z.literal('tool-call.interrupted'),
  ...ToolCallRef,
  cause: InterruptionCause,
  /** For people and for the model. */
  reason: z.string(),
});

export const toolCallUpcasters = {
  'tool-call.failed': [withoutCause],
  'tool-call.interrupted': [withoutCause],
} as const;
