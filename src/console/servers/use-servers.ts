import { useCallback, useEffect, useState } from 'react';
import type { McpServerRecord } from '../../contract/service-requests.ts';
import { errorText, get } from '../service/api.ts';
import { useMachines } from '../service/use-machines.ts';

const PAUSE_MS = 150;

export interface Servers {
  /** Null before the first answer. */
  readonly servers: readonly McpServerRecord[] | null;
  readonly problem: string | null;
  readonly refresh: () => void;
}

/** The tool servers; asked for again whenever one of them changes its state. */
export function useServers(): Servers {
  const { serverChanges } = useMachines();
  const [servers, setServers] = useState<readonly McpServerRecord[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const refresh = useCallback(() => {
    get<{ servers: McpServerRecord[] }>('/api/mcp/servers').then(
      (answer) => {
        setServers(answer.servers);
        setProblem(null);
      },
      (error: unknown) => setProblem(errorText(error)),
    );
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: serverChanges is the reason to ask again
  useEffect(() => {
    const timer = setTimeout(refresh, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [refresh, serverChanges]);
  return { servers, problem, refresh };
}
