import { z } from 'zod';
import { Timestamp } from '../timestamp.ts';

const Output = z.object({
  source: z.enum(['stderr', 'stdout']).describe('`stdout`: a line that is no MCP message.'),
  text: z.string(),
});

const Message = z.object({
  source: z.literal('log').describe('A log message of MCP.'),
  level: z.string(),
  logger: z.string().optional(),
  text: z.string(),
});

const Request = z.object({
  source: z.literal('request').describe('What the server asked of this service.'),
  method: z.string().describe('Such as `sampling/createMessage`, `elicitation/create` or `roots/list`.'),
  text: z.string().describe('The parameters as JSON, shortened.'),
  answer: z.string().describe('For people: how the service answered.'),
});

/** What a tool server said, besides its answers. Without the secrets of its configuration. */
export const ServerNote = z.discriminatedUnion('source', [Output, Message, Request]);
export type ServerNote = z.infer<typeof ServerNote>;

const at = { seq: z.int().describe('Number of the line, from 1.'), time: Timestamp };

/** A line of a tool server's log. */
export const ServerLogLine = z.discriminatedUnion('source', [
  Output.extend(at),
  Message.extend(at),
  Request.extend(at),
]);
export type ServerLogLine = z.infer<typeof ServerLogLine>;
