import { z } from 'zod';

/* What a response consists of. */

const ItemStatus = z.enum(['in_progress', 'completed', 'incomplete']);

export const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(z.never()),
});
export type OutputText = z.infer<typeof OutputText>;

const MessageItem = z.object({
  type: z.literal('message'),
  id: z.string(),
  status: ItemStatus,
  role: z.literal('assistant'),
  content: z.array(OutputText),
});

const ReasoningItem = z.object({
  type: z.literal('reasoning'),
  id: z.string(),
  status: ItemStatus,
  summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
});

const FunctionCallItem = z.object({
  type: z.literal('function_call'),
  id: z.string(),
  call_id: z.string().describe('Answer with exactly this id: it also says in which session the call waits.'),
  name: z.string(),
  arguments: z.string(),
  status: ItemStatus,
});

/** Why a tool has failed, for people. */
export const McpCallError = z.object({
  type: z.literal('mcp_tool_execution_error'),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
});

/** A call of a tool of the agent, which the service runs itself. */
const McpCallItem = z.object({
  type: z.literal('mcp_call'),
  id: z.string(),
  server_label: z.string(),
  name: z.string(),
  arguments: z.string(),
  output: z.string().nullable(),
  error: McpCallError.nullable(),
  approval_request_id: z.null(),
  status: z.enum(['in_progress', 'completed', 'failed']),
});

export const OutputItem = z.discriminatedUnion('type', [
  MessageItem,
  ReasoningItem,
  FunctionCallItem,
  McpCallItem,
]);
export type OutputItem = z.infer<typeof OutputItem>;
export type MessageItem = z.infer<typeof MessageItem>;
export type ReasoningItem = z.infer<typeof ReasoningItem>;
export type McpCallItem = z.infer<typeof McpCallItem>;
