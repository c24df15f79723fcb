import type { AgentId } from '../../core/agent-description.ts';
import { AGENT_STREAMS, agentPrefix, holdsConversation } from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { HostOptions } from './hosted-agents.ts';

/** Warns of agents that the log has conversations of and that are not served, such as one whose id was changed. */
export async function warnOfUnserved(options: HostOptions): Promise<void> {
  for (const agentId of await prefixedAgents(options.adapters.store)) warnUnlessServed(agentId, options);
}

/** @param agentId of an agent that the log has conversations of. */
export function warnUnlessServed(agentId: AgentId, { agents, log }: HostOptions): void {
  if (agents.some(({ id }) => id === agentId)) return;
  log.warn(
    { agentId },
    'an agent that the log has conversations of is not in the service file, so nobody can reach them',
  );
}

/** The agents whose streams have a prefix and that have conversations. Reads one id for each agent. */
export async function prefixedAgents(store: Pick<EventStore, 'streamIds'>): Promise<AgentId[]> {
  const agents: AgentId[] = [];
  for (let after = AGENT_STREAMS; ; ) {
    const [first] = await store.streamIds(after, 1);
    if (!first?.startsWith(AGENT_STREAMS)) return agents;
    const agentId = first.slice(AGENT_STREAMS.length, first.indexOf(':', AGENT_STREAMS.length));
    // Conversations sort before all that the service keeps for the agent.
    if (holdsConversation(first)) agents.push(agentId);
    after = endOf(agentPrefix(agentId));
  }
}

/** Sorts behind everything with this prefix, which ends with a colon: the character after that is the semicolon. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)};`;
}
