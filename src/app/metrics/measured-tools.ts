import { calledTool, toolCallStatus } from '../../core/tool-server/forwarded-tool-call.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { ToolServerConnection, ToolServerConnector } from '../../ports/tool-server.ts';
import { forwardingConnection } from '../forwarding-connection.ts';

/** A label value is kept for ever, and clients may connect servers under any number of names. */
const MAX_SERVERS = 100;
const OTHER = 'other';

/** Wraps the tool servers: records the duration of calls, by name for the first hundred servers, else as `other`. */
export function measuredTools(connector: ToolServerConnector, metrics: Metrics): ToolServerConnector {
  const named = new Set<string>();
  const label = (name: string): string => {
    if (named.size < MAX_SERVERS) named.add(name);
    return named.has(name) ? name : OTHER;
  };
  return {
    async connect(name, ...rest) {
      return measured(await connector.connect(name, ...rest), label(name), metrics);
    },
  };
}

function measured(connection: ToolServerConnection, server: string, metrics: Metrics): ToolServerConnection {
  const observe = (outcome: 'succeeded' | 'failed', begun: number): void =>
    metrics.observe(
      'agent_tool_call_duration_seconds',
      { server, outcome },
      (performance.now() - begun) / 1_000,
    );
  return {
    ...forwardingConnection(connection),
    async callTool(...call) {
      const begun = performance.now();
      const outcome = await connection.callTool(...call);
      observe(outcome.status, begun);
      return outcome;
    },
    async request(request, options) {
      if (calledTool(request) === undefined) return await connection.request(request, options);
      const begun = performance.now();
      try {
        const result = await connection.request(request, options);
        const status = toolCallStatus(result);
        if (status !== 'asking') observe(status, begun);
        return result;
      } catch (error) {
        observe('failed', begun);
        throw error;
      }
    },
  };
}
