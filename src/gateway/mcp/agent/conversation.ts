import { z } from 'zod';
import { SessionId } from '../../../core/ids.ts';
import type { McpCall } from '../mcp-call.ts';

/**
 * Clients are shown a text, and it is checked afterwards: model servers make a grammar of each tool that a model is offered, and
 * llama.cpp refuses the whole request because of the pattern of a session id, or of a bound as large as its length.
 */
export const SessionArgument = z
  .string()
  .pipe(SessionId)
  .optional()
  .describe(
    'Name of the conversation, such as the sessionId of an earlier answer. Without it, the conversation of this MCP session, or a new one where the protocol has no sessions.',
  );

/** The conversation of a call that names none. */
export function ownConversation({ ownSessionId }: McpCall): SessionId {
  return ownSessionId ?? newConversation();
}

export function newConversation(id: string = crypto.randomUUID()): SessionId {
  return `mcp-${id}`;
}
