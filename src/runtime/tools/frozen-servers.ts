import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';
import type { ConnectedTool } from '../../ports/turn-tools.ts';
import type { McpServer } from './mcp-server.ts';
import { connectedTools, type ToolServers } from './tool-servers.ts';

/** The servers that the list has at this moment, also once it has them no more. They go on to connect and to change. */
export class FrozenServers {
  readonly #list: ToolServers;
  readonly #servers: ReadonlyMap<string, McpServer>;
  #firstAttempts: Promise<void> | null;

  constructor(list: ToolServers) {
    this.#list = list;
    this.#servers = new Map(list.all.map((server) => [server.name, server]));
    this.#firstAttempts = list.firstAttempts();
    void this.#firstAttempts?.then(() => {
      this.#firstAttempts = null;
    });
  }

  /** Null when every one of these servers has finished its first attempt. Otherwise resolves as that of the list. */
  firstAttempts(): Promise<void> | null {
    return this.#firstAttempts;
  }

  /** Increases whenever the tools of any server change, also of one that is not among these. */
  get revision(): number {
    return this.#list.revision;
  }

  configOf(serverId: string): McpServerConfig | undefined {
    return this.#servers.get(serverId)?.config;
  }

  connectedTools(): ConnectedTool[] {
    return connectedTools([...this.#servers.values()]);
  }

  connectionOf(serverId: string): ToolServerConnection | null {
    return this.#servers.get(serverId)?.connection ?? null;
  }
}
