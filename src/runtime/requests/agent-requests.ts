import type { AgentId, AgentListItem, AgentReload } from '../../core/agent-description.ts';
import type { LocalBus } from '../bus/local-bus.ts';

/** The agents of a service. */
export interface AgentDirectory {
  list(): readonly AgentListItem[];
  /** Throws `AGENT_NOT_FOUND`, or `INVALID_REQUEST` if the agent's file is not valid: the agent is then as it was. */
  reload(agentId: AgentId): Promise<AgentReload>;
}

/** Registers the handlers of the requests about the agents. */
export function answerForAgents(bus: Pick<LocalBus, 'handle'>, agents: AgentDirectory): void {
  bus.handle('agent.list', async () => agents.list());
  bus.handle('agent.reload', ({ agentId }) => agents.reload(agentId));
}
