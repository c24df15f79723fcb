import { SessionId } from '../../../core/ids.ts';
import type { McpCall } from '../mcp-call.ts';

export const SessionArgument = SessionId.optional().describe(
  'Name of the conversation, such as the sessionId of an earlier answer. Without it, the conversation of this MCP session, or a new one where the protocol has no sessions.',
);

/** The conversation of a call that names none. */
export function ownConversation({ ownSessionId }: McpCall): SessionId {
  return ownSessionId ?? newConversation();
}

export function newConversation(id: string = crypto.randomUUID()): SessionId {
  return `mcp-${id}`;
}
