import { z } from 'zod';
import { Image } from '../../../core/conversation/image.ts';
import { SessionId } from '../../../core/ids.ts';
import type { ReplyChunk } from '../../../core/session/session-signal.ts';
import type { PendingApproval } from '../../../core/session/session-view.ts';
import { checkImageSize } from '../../../core/size-limits.ts';
import type { TurnMessage } from '../../../ports/service-requests.ts';
import { howToDecide } from '../../requests/queued-message.ts';
import { answerTurn } from '../../requests/turn-answer.ts';
import { turnCancelled } from '../../requests/turn-end.ts';
import { turnMessage } from '../../requests/turn-message.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { AgentSurfaceDeps } from './agent-deps.ts';
import { ownConversation, SessionArgument } from './conversation.ts';
import { failedCall } from './failed-call.ts';
import { textResult } from './tool-result.ts';

export const ChatArguments = z.object({
  message: z.string().min(1).describe('What to say to the agent.'),
  imageData: Image.optional().describe('An image that the agent should see.'),
  sessionId: SessionArgument,
});

const ChatOutput = z.object({
  reply: z.string().describe('The full reply of the agent.'),
  sessionId: SessionId.describe('The conversation. Give it with the next message to go on in it.'),
});

export const CHAT_TOOL = {
  name: 'chat_with_agent',
  title: 'Chat with the agent',
  description:
    'Sends a message to the agent and answers with its full reply. The agent remembers the conversation.',
  inputSchema: z.toJSONSchema(ChatArguments, { io: 'input' }),
  outputSchema: z.toJSONSchema(ChatOutput),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
} as const;

export async function chatWithAgent(
  deps: AgentSurfaceDeps,
  asked: z.output<typeof ChatArguments>,
  call: McpCall,
): Promise<McpObject> {
  const { message: text, imageData: image, sessionId = ownConversation(call) } = asked;
  const { bus, maxRequestBytes, log } = deps;
  const { context, signal } = call;
  const message = turnMessage({ sessionId, text, image });
  const { turnId } = message;
  const reason = 'the MCP client cancelled the call';
  const cancel = (): void => {
    bus.send('turn.cancel', { sessionId, turnId, reason }, context).catch((err: unknown) => {
      log.warn({ sessionId, turnId, err }, 'a turn could not be cancelled');
    });
  };
  try {
    checkImageSize(image, maxRequestBytes);
    // A cancellation that arrived together with the call was handled before it.
    if (signal.aborted) throw turnCancelled(reason);
    signal.addEventListener('abort', cancel, { once: true });
    const { content: reply } = await answerTurn(bus, message, context, {
      onChunk: progressReporter(call),
      onApprovals: approvalReporter(call, message),
    });
    return textResult(reply, { structuredContent: { reply, sessionId } });
  } catch (thrown) {
    return failedCall(thrown, sessionId, log);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Sends the pieces of the reply to a client that asked for progress. `progress` counts their characters. */
function progressReporter(call: McpCall): (chunk: ReplyChunk) => void {
  let progress = 0;
  return ({ content }) => {
    progress += content.length;
    call.progress({ progress, message: content });
  };
}

/** Tells the client with a log message that its call waits until somebody has approved or denied tool calls. */
function approvalReporter(
  call: McpCall,
  { sessionId }: TurnMessage,
): (approvals: readonly PendingApproval[]) => void {
  return (approvals) => {
    const message = `The agent needs approval. ${howToDecide(sessionId, approvals)}`;
    call.log('notice', 'approvals', { message, approvals });
  };
}
