import { useEffect, useState } from 'react';
import type { AgentDescription } from '../../core/agent-description.ts';
import { get } from './api.ts';
import { useMachines } from './use-machines.ts';

/** The agent of the service, or null before the answer. It is asked for again when a tool server changes its state. */
export function useAgent(): AgentDescription | null {
  const { serverChanges } = useMachines();
  const [agent, setAgent] = useState<AgentDescription | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the changes are why to ask again
  useEffect(() => {
    const asking = new AbortController();
    get<AgentDescription>('/api/agent', asking.signal).then(setAgent, () => undefined); // The chat works without it.
    return () => asking.abort();
  }, [serverChanges]);
  return agent;
}
