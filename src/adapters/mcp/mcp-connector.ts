import type { McpServerConfig } from '../../contract/agent-config.ts';
import type { Log } from '../../ports/log.ts';
import type { ToolServerConnection, ToolServerConnector, ToolServerEvents } from '../../ports/tool-server.ts';

export interface McpConnectorDeps {
  readonly log: Log;
  /** The service's own environment; a server process gets a small allow-list of it. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Appended to a server's PATH, so that the servers that come with the service are found. */
  readonly binFolders: readonly string[];
  /** Told to every server. */
  readonly clientVersion: string;
  /** How often a server behind HTTP is asked whether it is still there. */
  readonly pingIntervalMs?: number;
  /** How long a server process may take to stop before the next, harder, request. */
  readonly stopGraceMs?: number;
}

/** Everything one attempt to connect needs to know. */
export interface ConnectRequest {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly events: ToolServerEvents;
  readonly signal: AbortSignal;
}

/** Opens connections to MCP servers, as child processes or over HTTP. */
export function mcpConnector(deps: McpConnectorDeps): ToolServerConnector {
  return {
    async connect(name, config, events, signal): Promise<ToolServerConnection> {
      // The SDK takes long to load, and an agent without tools never needs it.
      const { openConnection } = await import('./open-connection.ts');
      return await openConnection(deps, { name, config, events, signal });
    },
  };
}
