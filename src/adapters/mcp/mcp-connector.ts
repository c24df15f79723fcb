import type { ToolServerConnection, ToolServerConnector } from '../../ports/tool-server.ts';
import type { McpConnectorDeps } from './open-connection.ts';

/** Opens connections to MCP servers, as child processes or over HTTP. */
export function mcpConnector(deps: McpConnectorDeps): ToolServerConnector {
  return {
    async connect(name, config, events, signal): Promise<ToolServerConnection> {
      // Loaded with the first connection: the SDK takes long to load, and an agent without tools never needs it.
      const { openConnection } = await import('./open-connection.ts');
      return await openConnection(deps, { name, config, events, signal });
    },
  };
}
