import type { AgentListItem } from '../../core/agent-description.ts';
import { ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import { forAgent } from '../agents/agent-choice.ts';
import type { ServedRequest } from '../http/http-message.ts';

type Asker = Pick<ServedRequest, 'context' | 'prefix'>;

/** The agents that a request may name as its model: all, or the one that its path names. */
export async function agentsFor(bus: Bus, { context, prefix }: Asker): Promise<readonly AgentListItem[]> {
  const agents = await bus.send('agent.list', {}, context);
  return prefix === undefined ? agents : agents.filter(({ agentId }) => agentId === context.agent);
}

/** Throws `AGENT_NOT_FOUND`. */
export async function agentNamed(bus: Bus, asker: Asker, model: string): Promise<AgentListItem> {
  const agents = await agentsFor(bus, asker);
  const agent = agents.find(({ agentId }) => agentId === model);
  if (agent) return agent;
  throw new ServiceError('AGENT_NOT_FOUND', `There is no model ${model}.`, {
    field: 'model',
    available: agents.map(({ agentId }) => agentId),
    suggestion: `The models are the agents of this service: ${agents.map(({ agentId }) => agentId).join(', ')}.`,
  });
}

/** The context of a request that names its agent as its model. */
export async function withModel(bus: Bus, asker: Asker, model: string): Promise<RequestContext> {
  const { agentId } = await agentNamed(bus, asker, model);
  return forAgent(asker.context, agentId);
}
