import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { errorText } from '../service/api-error.ts';
import type { MachinesSnapshot } from '../service/machines-feed.ts';
import { useLoaded } from '../service/use-loaded.ts';
import { useMachines } from '../service/use-machines.ts';

export interface Servers {
  /** Null before the first answer. */
  readonly servers: readonly McpServerRecord[] | null;
  readonly problem: string | null;
  readonly refresh: () => void;
}

/** The tool servers with their live status. They are loaded again when one of them changes its state. */
export function useServers(): Servers {
  const { serverChanges, machines } = useMachines();
  const { answer, error, refresh } = useLoaded<{ servers: McpServerRecord[] }>(
    '/api/mcp/servers',
    serverChanges,
  );
  return {
    servers: answer?.servers.map((server) => withLiveStatus(machines, server)) ?? null,
    problem: error === null ? null : errorText(error),
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
