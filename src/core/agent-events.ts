import { z } from 'zod';
import { AgentId } from './agent-description.ts';

/**
 * Of several agents, this one has the streams without a prefix: the conversations from before there were several. It
 * stays the same when the agents are listed in another order.
 */
export const UnprefixedAgentChosen = z.object({
  type: z.literal('unprefixed-agent.chosen'),
  agentId: AgentId,
});
