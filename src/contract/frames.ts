import { z } from 'zod';
import { ErrorBody } from './errors.ts';
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
