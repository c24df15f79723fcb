import type { AgentListItem } from '../../core/agent-description.ts';
import { useLoaded } from './use-loaded.ts';

/** The agents of the service; none before the answer. */
export function useAgents(): readonly AgentListItem[] {
  return useLoaded<{ agents: AgentListItem[] }>('/api/agents').answer?.agents ?? [];
}
