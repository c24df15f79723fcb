import { useCallback, useState } from 'react';
import type { AgentIdentity } from '../../core/agent-description.ts';
import { get } from './api.ts';
import { useMachines } from './use-machines.ts';
import { useRefresh } from './use-refresh.ts';

export interface ServiceHealth {
  readonly agent: AgentIdentity;
  /** Absent if there are none. */
  readonly warnings?: readonly string[];
}

/** The agent's name and the warnings of the service; null before the first answer. Asked again when a tool server changes. */
export function useServiceHealth(): ServiceHealth | null {
  const { serverChanges } = useMachines();
  const [health, setHealth] = useState<ServiceHealth | null>(null);
  const refresh = useCallback(() => {
    get<ServiceHealth>('/api/health').then(
      setHealth,
      () => undefined, // The next change tries again. The open session shows that the service is unreachable.
    );
  }, []);
  useRefresh(refresh, serverChanges);
  return health;
}
