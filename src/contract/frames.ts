import { z } from 'zod';
import { ErrorBody } from './errors.ts';
import { TokenUsage } from './events.ts';
import { ToolResult } from './tool.ts';

const toolCall = { callId: z.string(), toolName: z.string(), serverId: z.string().nullable() };

/** What the service sends over WebSocket: text frames of one JSON object each. */
export const ServerFrame = z.discriminatedUnion('event', [
  /** The agent has begun to work on a message. */
  z.object({ event: z.literal('thinking'), data: z.object({ message: z.string() }) }),
  /** A piece of the reply; the pieces of a turn concatenate into its `response`. */
  z.object({ event: z.literal('chunk'), data: z.object({ content: z.string() }) }),
  z.object({
    event: z.literal('toolCall'),
    data: z.object({ ...toolCall, arguments: z.record(z.string(), z.unknown()) }),
  }),
  /** The call waits until a client approves or denies it. */
  z.object({
    event: z.literal('toolApproval'),
    data: z.object({ ...toolCall, arguments: z.record(z.string(), z.unknown()), argumentsHash: z.string() }),
  }),
  z.object({
    event: z.literal('toolResult'),
    data: z.union([
      z.object({ ...toolCall, result: ToolResult }),
      z.object({ ...toolCall, error: z.string() }),
    ]),
  }),
  /** The whole reply. Ends the turn, as `error` does. */
  z.object({ event: z.literal('response'), data: z.object({ content: z.string() }) }),
  z.object({ event: z.literal('error'), data: ErrorBody }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

const content = z.string();

/** What a client that resumes is told besides: each durable event has exactly one frame. */
const ResumableOnlyFrame = z.discriminatedUnion('event', [
  /** Always the first. `head` is the seq of the session's last event; what lies between follows. */
  z.object({ event: z.literal('resumed'), data: z.object({ after: z.int(), head: z.int() }) }),
  /** A message was accepted. */
  z.object({
    event: z.literal('message'),
    data: z.object({
      content,
      image: z.object({ mimeType: z.string(), bytes: z.int() }).optional(),
      clientMessageId: z.string().optional(),
    }),
  }),
  /** This client's message was there before, as that turn: its `message` may be long past. With its end, if it has one. */
  z.object({
    event: z.literal('accepted'),
    data: z.object({
      clientMessageId: z.string(),
      content: content.optional(),
      error: ErrorBody.optional(),
    }),
  }),
  /** The call that waited for approval has it, and begins. */
  z.object({ event: z.literal('toolApproved'), data: z.object({ ...toolCall, argumentsHash: z.string() }) }),
  /** The turn goes on after the service had stopped: what was streamed of the step that ran then is void. */
  z.object({ event: z.literal('turnResumed'), data: z.object({ attempt: z.int() }) }),
  /** A model call ended; `content` is all that was streamed of it, `callIds` are the tool calls it asked for. */
  z.object({
    event: z.literal('stepCompleted'),
    data: z.object({ content, step: z.int(), callIds: z.array(z.string()), usage: TokenUsage.optional() }),
  }),
  z.object({ event: z.literal('reset'), data: z.object({}) }),
  /** What came before was copied from another session. */
  z.object({ event: z.literal('forked'), data: z.object({ from: z.string(), at: z.int() }) }),
  /** The session is gone; nothing follows. */
  z.object({ event: z.literal('deleted'), data: z.object({}) }),
]);

/**
 * Where a frame stands. Durable events have a `seq`, chunks a `step` and an `offset` into its text. An error
 * that answers a message of this client names the message instead.
 */
const place = {
  seq: z.int().optional(),
  turnId: z.string().optional(),
  step: z.int().optional(),
  offset: z.int().optional(),
  clientMessageId: z.string().optional(),
};

/** What the service sends to a client that asked for `?after=`. */
export const ResumableFrame = z.union([ServerFrame, ResumableOnlyFrame]).and(z.object(place));
export type ResumableFrame = z.infer<typeof ResumableFrame>;
