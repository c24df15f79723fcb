import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { PendingApproval } from '../../../core/session/session-view.ts';
import { knowsForms } from '../../../core/tool-server/elicitation.ts';
import { visible } from '../../../core/visible.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { Answered } from './asked-client.ts';

/* The approval of a tool call as a question to the MCP client (elicitation). */

const Answer = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('accept'),
    content: z.object({ approve: z.boolean(), reason: z.string().optional() }),
  }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);

/** Whether the client can ask its user, who may decide. */
export function canDecide({ clientCapabilities, context }: McpCall): boolean {
  return knowsForms(clientCapabilities) && (context.rights?.scopes.has('approvals:decide') ?? true);
}

export function approvalQuestion({ toolName, arguments: args }: PendingApproval): McpObject {
  return {
    message: `The agent wants to call the tool ${toolName} with these arguments: ${visible(JSON.stringify(args))}`,
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Approve', description: 'Whether the agent may make this call.' },
        reason: { type: 'string', title: 'Reason', description: 'If not, why. The agent is told.' },
      },
      required: ['approve'],
    },
  };
}

/** Does what the client answered. Declining denies the call; dismissing the question leaves it to others. */
export async function decide(
  bus: Bus,
  { sessionId, approval, answer }: ClientDecision,
  { context }: Pick<McpCall, 'context'>,
): Promise<Answered> {
  const { data } = Answer.safeParse(answer);
  if (!data) return 'unreadable';
  if (data.action === 'cancel') return 'open';
  const { approve: approved, reason } =
    data.action === 'accept' ? data.content : { approve: false, reason: undefined };
  const { callId, argumentsHash } = approval;
  const decision = { sessionId, callId, approved, argumentsHash, ...(!approved && reason && { reason }) };
  try {
    await bus.send('approval.answer', decision, context);
  } catch (thrown) {
    // Somebody else was first.
    if (!(thrown instanceof ServiceError && thrown.code === 'APPROVAL_NOT_FOUND')) throw thrown;
  }
  return 'answered';
}

interface ClientDecision {
  readonly sessionId: SessionId;
  readonly approval: PendingApproval;
  readonly answer: unknown;
}
