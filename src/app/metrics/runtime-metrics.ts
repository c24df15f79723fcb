import type { McpServerStatus } from '../../core/tool-server/mcp-server-record.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { SessionRegistry } from '../../runtime/sessions/session-registry.ts';
import type { SessionRetention } from '../../runtime/sessions/session-retention.ts';
import type { ToolServers } from '../../runtime/tools/tool-servers.ts';

interface Shown {
  readonly sessions: SessionRegistry;
  readonly servers: ToolServers;
  /** Null if sessions are kept for ever. */
  readonly retention: SessionRetention | null;
}

/** Shows the load of the sessions and the states of the tool servers. */
export function showRuntime(metrics: Metrics, { sessions, servers, retention }: Shown): void {
  metrics.read('agent_sessions', () => [{ labels: {}, value: sessions.loaded.size }]);
  metrics.read('agent_sessions_expired_total', () => [{ labels: {}, value: retention?.deleted ?? 0 }]);
  metrics.read('agent_turns_running', () => [{ labels: {}, value: sessions.loaded.load.turns }]);
  metrics.read('agent_messages_waiting', () => [{ labels: {}, value: sessions.loaded.load.waiting }]);
  metrics.read('agent_mcp_servers', () => {
    const counts: Record<McpServerStatus, number> = {
      connected: 0,
      connecting: 0,
      error: 0,
      disconnected: 0,
    };
    for (const { status } of servers.records()) counts[status] += 1;
    return Object.entries(counts).map(([status, value]) => ({ labels: { status }, value }));
  });
}
