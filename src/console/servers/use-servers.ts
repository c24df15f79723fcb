import { useCallback, useState } from 'react';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import type { MachinesSnapshot } from '../service/machines-feed.ts';
import { useMachines } from '../service/use-machines.ts';
import { useRefresh } from '../service/use-refresh.ts';

export interface Servers {
  /** Null before the first answer. */
  readonly servers: readonly McpServerRecord[] | null;
  readonly problem: string | null;
  readonly refresh: () => void;
}

/** The tool servers with their live status. They are loaded again when one of them changes its state. */
export function useServers(): Servers {
  const { serverChanges, machines } = useMachines();
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
  useRefresh(refresh, serverChanges);
  return {
    servers: servers?.map((server) => withLiveStatus(machines, server)) ?? null,
    problem,
    refresh,
  };
}

/** Takes status and error from the server's machine, whose changes arrive at once. */
function withLiveStatus(machines: MachinesSnapshot['machines'], server: McpServerRecord): McpServerRecord {
  const machine = machines.get(`mcp-server:${server.id}`);
  const status = statuses.find((candidate) => candidate === machine?.value);
  if (!machine || !status) return server;
  const { error: _before, ...record } = server;
  const { error } = machine.context;
  return { ...record, status, ...(status === 'error' && typeof error === 'string' && { error }) };
}

const statuses = ['connected', 'connecting', 'error', 'disconnected'] as const;
