import { z } from 'zod';

/** A tool as its MCP server describes it. */
export const Tool = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()).describe('A JSON Schema of type object.'),
  /** True when the server says that calling it twice does no more than calling it once. */
  repeatable: z.boolean(),
});
export type Tool = z.infer<typeof Tool>;

/** The answer of a tool: MCP content blocks, and a structured value where the tool has one. */
export const ToolResult = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** How a tool call ended. `failed` covers the tool's own `isError`, a crash and a time-out. */
export type ToolOutcome =
  | { status: 'succeeded'; result: ToolResult }
  | { status: 'failed'; reason: string; result?: ToolResult };

/** What a tool gave to a client. */
export const ToolExecution = z.object({ serverId: z.string(), result: ToolResult, durationMs: z.number() });
export type ToolExecution = z.infer<typeof ToolExecution>;
