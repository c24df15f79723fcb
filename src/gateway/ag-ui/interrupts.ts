import type { PendingApproval } from '../../core/session/session-view.ts';
import type { CallOfTurn } from '../turns/recorded-turn.ts';
import type { Interrupt } from './ag-ui-events.ts';
import { questionInterrupt } from './question-interrupts.ts';
import type { AgUiTurnState } from './turn-state.ts';

/** What an approval is answered with. */
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

/** Whether the id of an interrupt stands for the approval of this call. */
export function isFor(id: string, call: CallOfTurn): boolean {
  return id === interruptId(call) || id === call.callId;
}

/** All that the turn waits for and that somebody can decide or answer. */
export function interruptsOf({
  approvals,
  inputs,
}: Pick<AgUiTurnState, 'approvals' | 'inputs'>): Interrupt[] {
  return [...approvals.map(approvalInterrupt), ...inputs.map(questionInterrupt)];
}

function approvalInterrupt(approval: PendingApproval): Interrupt {
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
