import type { AgentDescription } from '../../core/agent-description.ts';
import { useLoaded } from './use-loaded.ts';
import { useMachines } from './use-machines.ts';

/** The agent of the service, or null before the answer. It is asked for again when a tool server changes its state. */
export function useAgent(): AgentDescription | null {
  const { serverChanges } = useMachines();
  return useLoaded<AgentDescription>('/api/agent', serverChanges).answer;
}
