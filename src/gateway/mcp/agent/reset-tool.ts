import { z } from 'zod';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { AgentSurfaceDeps } from './agent-deps.ts';
import { SessionArgument } from './conversation.ts';
import { failedCall } from './failed-call.ts';
import { textResult, toolError } from './tool-result.ts';

export const ResetArguments = z.object({ sessionId: SessionArgument });

export const RESET_TOOL = {
  name: 'reset_conversation',
  title: 'Reset the conversation',
  description: 'Clears the history of the conversation and cancels a reply in progress.',
  inputSchema: z.toJSONSchema(ResetArguments, { io: 'input' }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const;

export async function resetConversation(
  { bus, log }: AgentSurfaceDeps,
  asked: z.output<typeof ResetArguments>,
  { context, ownSessionId }: McpCall,
): Promise<McpObject> {
  const sessionId = asked.sessionId ?? ownSessionId;
  if (sessionId === undefined)
    return toolError('Name the conversation to reset with sessionId: this client has none of its own.');
  try {
    await bus.send('session.reset', { sessionId }, context);
    return textResult('The conversation was reset.');
  } catch (thrown) {
    return failedCall(thrown, sessionId, log);
  }
}
