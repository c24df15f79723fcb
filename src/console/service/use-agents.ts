import { useEffect, useState } from 'react';
import type { AgentListItem } from '../../core/agent-description.ts';
import { get } from './api.ts';

/** The agents of the service; none before the answer. */
export function useAgents(): readonly AgentListItem[] {
  const [agents, setAgents] = useState<readonly AgentListItem[]>([]);
  useEffect(() => {
    const asking = new AbortController();
    get<{ agents: AgentListItem[] }>('/api/agents', asking.signal).then(
      (answer) => setAgents(answer.agents),
      () => undefined, // The page shows its own agent without it.
    );
    return () => asking.abort();
  }, []);
  return agents;
}
