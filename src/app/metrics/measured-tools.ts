import type { Metrics } from '../../ports/metrics.ts';
import type { ToolServerConnection, ToolServerConnector } from '../../ports/tool-server.ts';

/** Each name is a series for ever, and clients may connect servers under ever new names. */
const MOST_SERVERS = 100;
const OTHER = 'other';

/** The same tool servers; how long calls take is recorded for each of the first hundred, and for the rest as one. */
export function measuredTools(connector: ToolServerConnector, metrics: Metrics): ToolServerConnector {
  const named = new Set<string>();
  const label = (name: string): string => {
    if (named.size < MOST_SERVERS) named.add(name);
    return named.has(name) ? name : OTHER;
  };
  return {
    async connect(name, ...rest) {
      return measured(await connector.connect(name, ...rest), label(name), metrics);
    },
  };
}

function measured(connection: ToolServerConnection, server: string, metrics: Metrics): ToolServerConnection {
  return {
    listTools: () => connection.listTools(),
    async callTool(...call) {
      const begun = performance.now();
      const outcome = await connection.callTool(...call);
      metrics.observe(
        'agent_tool_call_duration_seconds',
        { server, outcome: outcome.status },
        (performance.now() - begun) / 1_000,
      );
      return outcome;
    },
    close: () => connection.close(),
  };
}
