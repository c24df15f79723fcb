import { z } from 'zod';
import type { JsonObject } from '../json-object.ts';
import type { ServerQuestion } from '../tool-server/server-question.ts';

/** How far a tool call is, as its server says. */
export const ToolProgress = z.object({
  progress: z.number().describe('Grows with each event.'),
  total: z.number().optional().describe('The progress at the end; absent if the server does not know it.'),
  message: z.string().optional(),
});
export type ToolProgress = z.infer<typeof ToolProgress>;

/** What happens to a tool call of a client while it runs. Ephemeral. */
export type ToolCallSignal =
  | { readonly type: 'tool.begun' }
  | { readonly type: 'tool.progress'; readonly progress: ToolProgress }
  /** What the tool logs, as MCP's `notifications/message` has it. Only of a request that is passed on. */
  | { readonly type: 'tool.logged'; readonly params: JsonObject }
  /** The server asks its client. Only of a request that is passed on. `tool.answer` answers. */
  | { readonly type: 'tool.asked'; readonly questionId: string; readonly question: ServerQuestion };
