import type { AgentIdentity } from '../../core/agent-description.ts';
import { useLoaded } from './use-loaded.ts';
import { useMachines } from './use-machines.ts';

export interface ServiceHealth {
  readonly agent: AgentIdentity;
  /** Absent if there are none. */
  readonly warnings?: readonly string[];
}

/** The agent's name and the warnings of the service; null before the first answer. Asked again when a tool server changes. */
export function useServiceHealth(): ServiceHealth | null {
  const { serverChanges } = useMachines();
  return useLoaded<ServiceHealth>('/api/health', serverChanges).answer;
}
