import type { PendingApproval } from '../../core/session/session-view.ts';
import type { CallOfTurn } from '../turns/recorded-turn.ts';
import type { Interrupt } from './ag-ui-events.ts';

/** What an interrupt is answered with. */
const RESPONSE_SCHEMA = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the tool may run.' },
    reason: { type: 'string', description: 'Why it may not; the model is told.' },
    argumentsHash: { type: 'string', description: 'The approval is for the arguments with this hash only.' },
  },
  required: ['approved'],
};

/** Another turn may have a call with the same id, so the id of an interrupt names the turn, too. */
export function interruptId({ turnId, callId }: CallOfTurn): string {
  return `${turnId}~${callId}`;
}

/** A tool call that waits for approval, as an interrupt of the run. */
export function interruptFor(approval: PendingApproval): Interrupt {
  const { callId, toolName, serverId, arguments: args, argumentsHash, since, expiresAt } = approval;
  return {
    id: interruptId(approval),
    reason: 'approval',
    message: `The agent wants to call ${toolName}.`,
    toolCallId: callId,
    responseSchema: RESPONSE_SCHEMA,
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { toolName, serverId, arguments: args, argumentsHash, since },
  };
}
