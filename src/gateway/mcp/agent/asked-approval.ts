import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { PendingApproval } from '../../../core/session/session-view.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';

/* The approval of a tool call as a question to the MCP client (elicitation). */

const Elicitation = z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() });
const Answer = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('accept'),
    content: z.object({ approve: z.boolean(), reason: z.string().optional() }),
  }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);

/** `undecided`: the client has not said, so somebody else may. */
export type Decision = 'decided' | 'undecided' | 'unreadable';

/** Whether the client can ask its user, who may decide. */
export function canDecide({ clientCapabilities, context }: McpCall): boolean {
  const { data } = Elicitation.safeParse(clientCapabilities.elicitation);
  // A client that names no mode knows forms.
  const knowsForms = data !== undefined && (data.form !== undefined || data.url === undefined);
  return knowsForms && (context.rights?.scopes.has('approvals:decide') ?? true);
}

export function questionOf({ toolName, arguments: args }: PendingApproval): McpObject {
  return {
    message: `The agent wants to call the tool ${toolName} with these arguments: ${JSON.stringify(args)}`,
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

/** In the newer era: the questions of a result, by the keys of their answers. */
export function questionsOf(approvals: readonly PendingApproval[]): McpObject {
  return Object.fromEntries(
    approvals.map((approval) => [
      keyOf(approval),
      { method: 'elicitation/create', params: { mode: 'form', ...questionOf(approval) } },
    ]),
  );
}

export function keyOf({ callId }: Pick<PendingApproval, 'callId'>): string {
  return `approval:${callId}`;
}

/** Does what the client answered. Declining denies the call; dismissing the question leaves it to others. */
export async function decide(
  bus: Bus,
  { sessionId, approval, answer }: Answered,
  { context }: Pick<McpCall, 'context'>,
): Promise<Decision> {
  const { data } = Answer.safeParse(answer);
  if (!data) return 'unreadable';
  if (data.action === 'cancel') return 'undecided';
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
  return 'decided';
}

interface Answered {
  readonly sessionId: SessionId;
  readonly approval: PendingApproval;
  readonly answer: unknown;
}
