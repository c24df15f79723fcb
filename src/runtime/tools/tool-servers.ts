import { ServiceError } from '../../core/errors.ts';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { KnownServer } from '../../core/tool-call/unmatched-rules.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { ServerLogLine } from '../../core/tool-server/server-log.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';
import type { ConnectedTool } from '../../ports/turn-tools.ts';
import { within } from '../../timing/deadline.ts';
import { McpServer, type McpServerDeps } from './mcp-server.ts';
import type { Connected } from './server-offers.ts';

/** What a server needs, apart from whom it tells of its changes. */
export type ToolServerDeps = Omit<McpServerDeps, 'onToolsChanged' | 'onTransition' | 'onOfferChange'>;

/** Longest wait of a turn for tool servers that are still starting. */
const FIRST_ATTEMPTS_MS = 10_000;

/** The tool servers as they are now. Only their supervisor changes the list. */
export class ToolServers {
  readonly #deps: ToolServerDeps;
  readonly #servers = new Map<string, McpServer>();
  /** Servers that are off the list and have not ended yet. */
  readonly #leaving = new Set<McpServer>();
  readonly #listeners = new Set<() => void>();
  readonly #offerListeners = new Set<(change: OfferChange) => void>();
  readonly #connectionListeners = new Set<(serverId: string) => void>();
  #revision = 0;
  #firstAttempts: Promise<void> | null = null;
  /** Whether all servers of the agent file are in the list. */
  #isComplete = false;

  constructor(deps: ToolServerDeps) {
    this.#deps = deps;
  }

  /** Calls the listener when the first attempts are over, and after each change of a server's state or tools. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Calls the listener when a server offers something else, or says that a resource has changed. */
  onOfferChange(listener: (change: OfferChange) => void): void {
    this.#offerListeners.add(listener);
  }

  /** Calls the listener when a server has connected, before it is told that the server offers something else. */
  onConnected(listener: (serverId: string) => void): void {
    this.#connectionListeners.add(listener);
  }

  /** Null when every server has finished its first attempt. Otherwise resolves when they have, or after 10 s. */
  firstAttempts(): Promise<void> | null {
    return this.#firstAttempts;
  }

  /** Increases whenever the tools of any server change. */
  get revision(): number {
    return this.#revision;
  }

  get all(): McpServer[] {
    return [...this.#servers.values()];
  }

  find(name: string): McpServer | undefined {
    return this.#servers.get(name);
  }

  get(serverId: string): McpServer {
    const server = this.#servers.get(serverId);
    if (server) return server;
    throw new ServiceError('SERVER_NOT_FOUND', `There is no MCP server ${serverId}.`, {
      serverId,
      available: [...this.#servers.keys()],
    });
  }

  hasName(name: string): boolean {
    return this.#servers.has(name);
  }

  records(): McpServerRecord[] {
    return this.all.map((server) => server.record);
  }

  recordOf(serverId: string): McpServerRecord {
    return this.get(serverId).record;
  }

  /** For the export of the configuration. */
  configs(): Record<string, McpServerConfig> {
    return Object.fromEntries(this.all.map(({ name, config }) => [name, config]));
  }

  configOf(serverId: string): McpServerConfig | undefined {
    return this.find(serverId)?.config;
  }

  toolsOf(serverId: string): readonly Tool[] {
    return this.get(serverId).tools;
  }

  /** Every server with the names of its tools, which are null while it is not connected. */
  toolNames(): KnownServer[] {
    return this.all.map(({ name, status, tools }) => ({
      name,
      tools: status === 'connected' ? tools.map((tool) => tool.name) : null,
    }));
  }

  connectedTools(): ConnectedTool[] {
    return connectedTools(this.all);
  }

  /** The servers that are connected now. */
  connected(): Connected[] {
    return this.all.flatMap(({ name: serverId, connection }) =>
      connection ? [{ serverId, connection }] : [],
    );
  }

  connectionOf(serverId: string): ToolServerConnection | null {
    return this.find(serverId)?.connection ?? null;
  }

  /** What the server said after the line with this number. */
  logOf(serverId: string, after: number): ServerLogLine[] {
    return this.get(serverId).log.after(after);
  }

  /** Adds a server that is not connected yet. Ends one with its name, whose place it takes. */
  add(name: string, config: McpServerConfig): McpServer {
    this.#replace(name);
    let wasConnected = false;
    const server = new McpServer(name, config, {
      ...this.#deps,
      onToolsChanged: () => {
        this.#revision += 1;
        this.#tell({ kind: 'tools', serverId: name });
      },
      onOfferChange: (change) => {
        if (change) this.#tell(change);
      },
      onTransition: (status) => {
        this.#changed();
        if (wasConnected === (status === 'connected')) return;
        wasConnected = !wasConnected;
        if (wasConnected) for (const listener of this.#connectionListeners) listener(name);
        this.#tell({ kind: 'prompts', serverId: name });
        this.#tell({ kind: 'resources', serverId: name });
      },
    });
    this.#servers.set(name, server);
    return server;
  }

  /** Takes a server off the list for good. */
  forget(server: McpServer): void {
    this.#servers.delete(server.name);
    server.forget();
    this.#changed();
  }

  /** Takes servers off the list that stay connected for the turns that use them, but are watched no more. */
  retire(names: readonly string[]): McpServer[] {
    const retired = names.flatMap((name) => this.find(name) ?? []);
    for (const server of retired) {
      this.#servers.delete(server.name);
      this.#leaving.add(server);
      // The end of this server would look like that of the one that takes its place: their machines have the same id.
      server.forget();
    }
    this.#revision += 1;
    return retired;
  }

  /** Ends a retired server. */
  async giveUp(server: McpServer): Promise<void> {
    try {
      await server.disconnect();
    } finally {
      this.#leaving.delete(server);
    }
  }

  /** All servers of the agent file are in the list, and try to connect. Turns wait for these attempts. */
  complete(attempts: readonly Promise<unknown>[]): void {
    this.#isComplete = true;
    if (attempts.length === 0) {
      this.#changed();
      return;
    }
    // Servers that the file had before may still be starting, and turns waited for them, too.
    const others = this.#firstAttempts ? this.all.map((server) => server.attempted()) : [];
    const all: Promise<unknown> = Promise.all([...attempts, ...others]);
    const over = within(FIRST_ATTEMPTS_MS, all, undefined).then(() => {
      if (this.#firstAttempts !== over) return;
      this.#firstAttempts = null;
      this.#changed();
    });
    this.#firstAttempts = over;
  }

  /**
   * Disconnects all servers, those of interrupted turns included. They end with the service, which is no change that anybody
   * should be told of.
   */
  async end(): Promise<void> {
    this.#listeners.clear();
    this.#offerListeners.clear();
    this.#connectionListeners.clear();
    await Promise.all([...this.all, ...this.#leaving].map((server) => server.disconnect()));
  }

  #replace(name: string): void {
    const server = this.find(name);
    if (!server) return;
    this.#leaving.add(server);
    void this.giveUp(server);
    server.forget();
  }

  #changed(): void {
    if (this.#isComplete) for (const listener of this.#listeners) listener();
  }

  #tell(change: OfferChange): void {
    for (const listener of this.#offerListeners) listener(change);
  }
}

export function connectedTools(servers: readonly McpServer[]): ConnectedTool[] {
  return servers.flatMap(({ name: serverId, tools }) =>
    tools.map((tool) => ({ serverId, toolName: tool.name, tool })),
  );
}
