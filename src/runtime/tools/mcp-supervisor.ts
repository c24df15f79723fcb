import { canonicalJson } from '../../core/content-hash.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { KnownServer } from '../../core/tool-call/unmatched-rules.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { McpServerRecord, McpServerStatus } from '../../core/tool-server/mcp-server-record.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { ServerLogLine } from '../../core/tool-server/server-log.ts';
import type { AuthorizationResponse } from '../../ports/server-authorization.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';
import type { ConnectedTool } from '../../ports/turn-tools.ts';
import { within } from '../../timing/deadline.ts';
import { HeldNames } from './held-names.ts';
import { McpServer, type McpServerDeps } from './mcp-server.ts';
import type { ServerBook, ServerNews } from './server-book.ts';
import type { Connected } from './server-offers.ts';

/** The first attempt to connect a server. */
export interface FirstAttempt {
  readonly name: string;
  readonly settled: Promise<{ readonly record: McpServerRecord; readonly tools: number }>;
}

type Configs = Readonly<Record<string, McpServerConfig>>;

type SupervisorDeps = Omit<McpServerDeps, 'onToolsChanged' | 'onTransition' | 'onOfferChange'>;

/** How the servers of the agent file differ from those before. By name. */
export interface ServerChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Longest wait of a turn for tool servers that are still starting. */
const FIRST_ATTEMPTS_MS = 10_000;

/** All tool servers: those of the agent file and those connected at run time. */
export class McpSupervisor implements AsyncDisposable {
  readonly #deps: SupervisorDeps;
  readonly #book: ServerBook;
  readonly #servers = new Map<string, McpServer>();
  /** Names of the servers that were connected at run time. */
  readonly #atRunTime = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #offerListeners = new Set<(change: OfferChange) => void>();
  readonly #held = new HeldNames(() => this.#followSoon());
  /** The servers of the agent file as it was read last. */
  #inFile: Configs = {};
  /** Whether all servers of the agent file are in the list. */
  #isComplete = false;
  #revision = 0;
  #firstAttempts: Promise<void> | null = null;
  #isClosed = false;

  /** @param book remembers the servers that are connected at run time. */
  constructor(deps: SupervisorDeps, book: ServerBook) {
    this.#deps = deps;
    this.#book = book;
  }

  /** Starts to connect all servers that are not disabled at the same time, and does not wait for them. */
  start(inFile: Configs, remembered: Configs = {}): readonly FirstAttempt[] {
    this.#inFile = inFile;
    for (const name of Object.keys(remembered)) this.#atRunTime.add(name);
    const enabled = Object.entries({ ...inFile, ...remembered }).filter(
      ([, { disabled }]) => disabled !== true,
    );
    const attempts = enabled.map(([name, config]) => this.#begin(name, config));
    this.#isComplete = true;
    this.#await(attempts);
    return attempts;
  }

  #begin(name: string, config: McpServerConfig): FirstAttempt {
    const server = this.#add(name, config);
    const settled = server.connect().then(() => ({ record: server.record, tools: server.tools.length }));
    return { name, settled };
  }

  /** Turns wait for these attempts. */
  #await(attempts: readonly FirstAttempt[]): void {
    if (attempts.length === 0) {
      this.#changed();
      return;
    }
    const all: Promise<unknown> = Promise.all(attempts.map(({ settled }) => settled));
    const over = within(FIRST_ATTEMPTS_MS, all, undefined).then(() => {
      if (this.#firstAttempts !== over) return;
      this.#firstAttempts = null;
      this.#changed();
    });
    this.#firstAttempts = over;
  }

  /**
   * Takes over the servers of an agent file that was read again, and does not wait for the new ones. A server that was
   * connected at run time stays, also if the file has its name.
   * @returns also the servers that are in the list no more. They are still connected: give each to `giveUp`.
   */
  takeOver(inFile: Configs): { readonly changes: ServerChanges; readonly retired: readonly McpServer[] } {
    const former = enabledOnly(this.#inFile);
    const wanted = enabledOnly(inFile);
    this.#inFile = inFile;
    const isOurs = (name: string): boolean => !this.#atRunTime.has(name);
    const removed = Object.keys(former).filter((name) => isOurs(name) && !Object.hasOwn(wanted, name));
    const added = Object.keys(wanted).filter((name) => isOurs(name) && !Object.hasOwn(former, name));
    const changed = Object.keys(wanted).filter(
      (name) => isOurs(name) && Object.hasOwn(former, name) && !isSame(former[name], wanted[name]),
    );
    const retired = [...removed, ...changed].flatMap((name) => this.#retire(name));
    this.#revision += 1;
    this.#await(
      [...added, ...changed].flatMap((name) => {
        const config = wanted[name];
        return config ? [this.#begin(name, config)] : [];
      }),
    );
    return { changes: { added, changed, removed }, retired };
  }

  /**
   * Takes over what other nodes did to servers that are connected at run time: connects those that are new here, replaces
   * those with another configuration and disconnects those that were removed. Servers of the agent file stay as they are,
   * unless one of the same name was connected. Resolves when what is gone has ended, and does not wait for what is new.
   */
  async follow(): Promise<void> {
    const news = await this.#book.news();
    if (this.#isClosed) return;
    const latest = news.filter((one) => !this.#held.isHeld(one.name) && this.#book.acknowledge(one));
    const ended = latest.flatMap((one) => this.#followed(one));
    await Promise.all(ended.map((server) => this.#end(server)));
  }

  /** Null when every server has finished its first attempt. Otherwise resolves when they have, or after 10 s. */
  firstAttempts(): Promise<void> | null {
    return this.#firstAttempts;
  }

  /** Increases whenever the tools of any server change. */
  get revision(): number {
    return this.#revision;
  }

  /** Calls the listener when the first attempts are over, and after each change of a server's state or tools. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Calls the listener when a server offers something else, or says that a resource has changed. */
  onOfferChange(listener: (change: OfferChange) => void): void {
    this.#offerListeners.add(listener);
  }

  /** Every server with the names of its tools, which are null while it is not connected. */
  toolNames(): KnownServer[] {
    return [...this.#servers.values()].map(({ name, status, tools }) => ({
      name,
      tools: status === 'connected' ? tools.map((tool) => tool.name) : null,
    }));
  }

  records(): McpServerRecord[] {
    return [...this.#servers.values()].map((server) => server.record);
  }

  /** The current servers, for the export of the configuration. */
  configs(): Record<string, McpServerConfig> {
    return Object.fromEntries([...this.#servers].map(([name, { config }]) => [name, config]));
  }

  configOf(serverId: string): McpServerConfig | undefined {
    return this.#servers.get(serverId)?.config;
  }

  async connect(name: string, config: McpServerConfig, origin: Origin): Promise<McpServerRecord> {
    const known = this.#servers.get(name);
    // A server that has never connected is replaced: its configuration serves nobody.
    if (known && known.status !== 'disconnected' && !known.hasOnlyFailed) {
      throw new ServiceError('INVALID_REQUEST', `An MCP server named ${name} exists already.`, {
        field: 'name',
        issue: `the name is in use by a server whose status is ${known.status}`,
        suggestion: 'Choose another name, or disconnect that server first with DELETE /api/mcp/servers/{id}.',
      });
    }
    this.#atRunTime.add(name);
    void known?.disconnect();
    const server = this.#add(name, config);
    return this.#remembered(server, origin, async () => {
      await server.disconnect();
      if (this.#servers.get(name) === server) this.#forget(server);
    });
  }

  /** @param seen leaves a server alone that has another status. */
  async reconnect(serverId: string, origin: Origin, seen?: McpServerStatus): Promise<McpServerRecord> {
    const server = this.#server(serverId);
    if (seen !== undefined && server.status !== seen) return server.record;
    return this.#atRunTime.has(server.name) ? this.#remembered(server, origin) : this.#attempt(server);
  }

  /**
   * Disconnects a server. Removes a server that is disconnected already, so that the list does not grow for ever.
   * @param seen leaves a server alone that is disconnected and was not then, or the other way round.
   */
  async disconnect(serverId: string, origin: Origin, seen?: McpServerStatus): Promise<McpServerRecord> {
    const server = this.#server(serverId);
    const { name } = server;
    const isDisconnected = server.status === 'disconnected';
    if (seen !== undefined && isDisconnected !== (seen === 'disconnected')) return server.record;
    if (isDisconnected) this.#forget(server);
    await Promise.all([this.#end(server), this.#held.during(name, () => this.#book.remove(name, origin))]);
    return server.record;
  }

  /** Takes what an authorization server answers about a tool server, and connects the server. */
  async authorize(response: AuthorizationResponse): Promise<McpServerRecord> {
    const outcome = await this.#deps.authorizations?.finish(response);
    const server = outcome && this.#servers.get(outcome.server);
    if (!server) {
      throw new ServiceError(
        'INVALID_REQUEST',
        'This authorization is unknown, was used already or is too old.',
        {
          field: 'state',
          suggestion: 'Begin again with the details.authorizationUrl that the tool server has now.',
        },
      );
    }
    // After a failure, too: the attempt gives the server a new address for the next person.
    if (server.status !== 'connected') await server.connect();
    if (outcome.problem === null) return server.record;
    throw new ServiceError('AGENT_ERROR', `The tool server ${server.name} was not authorized.`, {
      serverId: server.name,
      reason: outcome.problem,
    });
  }

  recordOf(serverId: string): McpServerRecord {
    return this.#server(serverId).record;
  }

  toolsOf(serverId: string): readonly Tool[] {
    return this.#server(serverId).tools;
  }

  /** What the server said after the line with this number. */
  logOf(serverId: string, after: number): ServerLogLine[] {
    return this.#server(serverId).log.after(after);
  }

  connectedTools(): ConnectedTool[] {
    return [...this.#servers.values()].flatMap((server) =>
      server.tools.map((tool) => ({ serverId: server.name, toolName: tool.name, tool })),
    );
  }

  /** The servers that are connected now. */
  connected(): Connected[] {
    return [...this.#servers.values()].flatMap(({ name: serverId, connection }) =>
      connection ? [{ serverId, connection }] : [],
    );
  }

  connectionOf(serverId: string): ToolServerConnection | null {
    return this.#servers.get(serverId)?.connection ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // The servers end with the service: that is no change that anybody should be told of.
    this.#listeners.clear();
    this.#offerListeners.clear();
    await Promise.all([...this.#servers.values()].map((server) => server.disconnect()));
  }

  /**
   * Starts the attempt at once, which reserves the name, and answers when the server is in the log.
   * @param undo reverts the attempt if the log refuses, so that the request can be repeated.
   */
  async #remembered(server: McpServer, origin: Origin, undo?: () => Promise<void>): Promise<McpServerRecord> {
    const attempt = this.#attempt(server);
    // If the log fails first, nobody waits for the attempt.
    attempt.catch(() => undefined);
    const { name, config } = server;
    await this.#held.during(name, async () => {
      try {
        if (!(await this.#book.add(name, config, origin))) throw this.#takenElsewhere(name);
      } catch (error) {
        await undo?.();
        throw error;
      }
    });
    return attempt;
  }

  /** Another node was first. Its server appears here as soon as the request is over. */
  #takenElsewhere(name: string): ServiceError {
    this.#held.tellWhenFree();
    return new ServiceError('INVALID_REQUEST', `An MCP server named ${name} exists already.`, {
      field: 'name',
      issue: 'the name is in use by a server that was connected on another node just now',
      suggestion: 'Look at the list of servers. Choose another name, or disconnect that server first.',
    });
  }

  /** @returns the server that was removed. It is still connected. */
  #followed({ name, config }: ServerNews): McpServer[] {
    const known = this.#servers.get(name);
    // The next start would leave it out, too.
    const isEnabled = config !== null && config.disabled !== true;
    if (!isEnabled) return known && this.#atRunTime.has(name) ? [known] : [];
    this.#atRunTime.add(name);
    if (known && known.status !== 'disconnected' && isSame(known.config, config)) return [];
    void known?.disconnect();
    this.#begin(name, config);
    return [];
  }

  #followSoon(): void {
    this.follow().catch((err: unknown) =>
      this.#deps.log.warn({ err }, 'the tool servers that other nodes have connected could not be read'),
    );
  }

  #tell(change: OfferChange): void {
    for (const listener of this.#offerListeners) listener(change);
  }

  #changed(): void {
    if (this.#isComplete) for (const listener of this.#listeners) listener();
  }

  /** Ends a server that `takeOver` has replaced or removed. */
  async giveUp(server: McpServer): Promise<void> {
    await server.disconnect();
    server.forget();
    const isGone = !this.#servers.has(server.name);
    if (isGone && server.config.type === 'http') await this.#deps.authorizations?.forget(server.name);
  }

  async #end(server: McpServer): Promise<void> {
    const { authorizations } = this.#deps;
    await Promise.all([
      server.disconnect(),
      server.config.type === 'http' && authorizations?.forget(server.name),
    ]);
  }

  #retire(name: string): McpServer[] {
    const server = this.#servers.get(name);
    if (!server) return [];
    this.#servers.delete(name);
    return [server];
  }

  #forget(server: McpServer): void {
    this.#servers.delete(server.name);
    server.forget();
    this.#changed();
  }

  #add(name: string, config: McpServerConfig): McpServer {
    this.#servers.get(name)?.forget();
    let wasOpen = false;
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
        if (wasOpen === (status === 'connected')) return;
        wasOpen = !wasOpen;
        this.#tell({ kind: 'prompts', serverId: name });
        this.#tell({ kind: 'resources', serverId: name });
      },
    });
    this.#servers.set(name, server);
    return server;
  }

  async #attempt(server: McpServer): Promise<McpServerRecord> {
    const status = await server.connect();
    const { record } = server;
    if (status === 'connected') return record;
    throw new ServiceError('AGENT_ERROR', `The MCP server ${server.name} could not be connected.`, {
      serverId: server.name,
      reason: record.error ?? 'it was disconnected meanwhile',
      ...record.details,
      suggestion:
        'It stays listed and is tried again. Correct it by connecting a server of the same name; DELETE /api/mcp/servers/{id} gives it up.',
    });
  }

  #server(serverId: string): McpServer {
    const server = this.#servers.get(serverId);
    if (!server) {
      throw new ServiceError('SERVER_NOT_FOUND', `There is no MCP server ${serverId}.`, {
        serverId,
        available: [...this.#servers.keys()],
      });
    }
    return server;
  }
}

function enabledOnly(configs: Configs): Configs {
  return Object.fromEntries(Object.entries(configs).filter(([, { disabled }]) => disabled !== true));
}

function isSame(one: McpServerConfig | undefined, other: McpServerConfig | undefined): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
