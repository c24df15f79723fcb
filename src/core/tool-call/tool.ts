import { z } from 'zod';

/** A tool as its MCP server describes it. */
export const Tool = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()).describe('A JSON Schema of type object.'),
  /** Whether the server declares that calling the tool twice has the same effect as once. */
  repeatable: z.boolean(),
});
export type Tool = z.infer<typeof Tool>;

/** The result of a tool: MCP content blocks, and a structured value if the tool returns one. */
export const ToolResult = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.unknown().optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** How a tool call ended. `failed` covers the tool's own `isError`, a crash and a time-out. */
export type ToolOutcome =
  | { status: 'succeeded'; result: ToolResult }
  | { status: 'failed'; reason: string; result?: ToolResult };

/** The result of a tool that a client executed. */
export const ToolExecution = z.object({ serverId: z.string(), result: ToolResult, durationMs: z.number() });
export type ToolExecution = z.infer<typeof ToolExecution>;
