import type { AgentDescription } from '../../core/agent-description.ts';
import { useLoaded } from './use-loaded.ts';
import { useMachines } from './use-machines.ts';

export interface Agent extends AgentDescription {
  /** The largest image of a message. Absent if the service sets no limit. */
  readonly maxImageBytes?: number;
}

/** The agent of the service, or null before the answer. It is asked for again when a tool server changes its state. */
export function useAgent(): Agent | null {
  const { serverChanges } = useMachines();
  return useLoaded<Agent>('/api/agent', serverChanges).answer;
}
