import type { ToolServerConnection, ToolServerConnector } from '../../ports/tool-server.ts';
import type { McpConnectorDeps } from './open-connection.ts';
import { RunningServers } from './stdio/running-servers.ts';

/** Opens connections to MCP servers, as child processes or over HTTP. */
export function mcpConnector(deps: McpConnectorDeps): ToolServerConnector {
  const running = new RunningServers();
  return {
    async connect(name, config, events, signal): Promise<ToolServerConnection> {
      // Loaded with the first connection: the SDK takes long to load, and an agent without tools never needs it.
      const { openConnection } = await import('./open-connection.ts');
      return await openConnection({ ...deps, running }, { name, config, events, signal });
    },
  };
}
