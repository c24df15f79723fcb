import { ServiceError } from '../../core/errors.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { isSameConfig, type McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { McpServerRecord, McpServerStatus } from '../../core/tool-server/mcp-server-record.ts';
import type { AuthorizationResponse } from '../../ports/server-authorization.ts';
import { HeldNames } from './held-names.ts';
import type { McpServer } from './mcp-server.ts';
import type { ServerBook, ServerNews } from './server-book.ts';
import { changesBetween, enabledOnly, type ServerChanges, type ServerConfigs } from './server-changes.ts';
import { type ToolServerDeps, ToolServers } from './tool-servers.ts';

/** The first attempt to connect a server. */
export interface FirstAttempt {
  readonly name: string;
  readonly settled: Promise<{ readonly record: McpServerRecord; readonly tools: number }>;
}

/** Connects and disconnects the tool servers: those of the agent file and those connected at run time. */
export class McpSupervisor implements AsyncDisposable {
  /** For those who only look at the servers. */
  readonly servers: ToolServers;
  readonly #deps: ToolServerDeps;
  readonly #book: ServerBook;
  /** Names of the servers that were connected at run time. */
  readonly #atRunTime = new Set<string>();
  readonly #held = new HeldNames(() => this.#followSoon());
  /** The servers of the agent file as it was read last. */
  #inFile: ServerConfigs = {};
  #isClosed = false;

  /** @param book remembers the servers that are connected at run time. */
  constructor(deps: ToolServerDeps, book: ServerBook) {
    this.servers = new ToolServers(deps);
    this.#deps = deps;
    this.#book = book;
  }

  /**
   * Starts to connect all servers at the same time, and does not wait for them. Leaves out those that are disabled, and
   * those of the file that somebody has disconnected at all nodes.
   */
  start(inFile: ServerConfigs, remembered: ServerConfigs = {}): readonly FirstAttempt[] {
    this.#inFile = inFile;
    for (const name of Object.keys(remembered)) this.#atRunTime.add(name);
    const enabled = Object.entries(enabledOnly({ ...inFile, ...remembered }));
    const attempts = enabled.flatMap(([name, config]) => {
      if (this.#atRunTime.has(name) || !this.#book.isDisconnected(name)) return [this.#begin(name, config)];
      this.servers.add(name, config);
      const message = 'a tool server of the agent file is not connected: somebody has disconnected it';
      this.#deps.log.info({ server: name }, message);
      return [];
    });
    this.servers.complete(attempts.map(({ settled }) => settled));
    return attempts;
  }

  /**
   * Takes over the servers of an agent file that was read again, and does not wait for the new ones. A server that was
   * connected at run time stays, also if the file has its name, until it is disconnected: then the name is free.
   * @returns also the servers that are in the list no more. They are still connected: give each to `giveUp`.
   */
  takeOver(inFile: ServerConfigs): {
    readonly changes: ServerChanges;
    readonly retired: readonly McpServer[];
  } {
    const { added, changed, removed } = changesBetween(this.#inFile, inFile);
    const ours = (names: readonly string[]) => names.filter((name) => !this.#isTaken(name));
    const changes = { added: ours(added), changed: ours(changed), removed: ours(removed) };
    this.#inFile = inFile;
    for (const name of Object.values(changes).flat()) this.#atRunTime.delete(name);
    const retired = this.servers.retire([...changes.removed, ...changes.changed]);
    const wanted = [...changes.added, ...changes.changed];
    for (const name of wanted) this.#connectedByFile(name);
    this.servers.complete(
      wanted.flatMap((name) => (inFile[name] ? [this.#begin(name, inFile[name]).settled] : [])),
    );
    return { changes, retired };
  }

  /**
   * Takes over what other nodes did to servers that are connected at run time: connects those that are new here, replaces
   * those with another configuration and disconnects those that were removed. Disconnects the servers of the agent file
   * that another node has disconnected, and connects them again when it has. Resolves when what is gone has ended, and does
   * not wait for what is new.
   */
  async follow(): Promise<void> {
    const news = await this.#book.news();
    if (this.#isClosed) return;
    const latest = news.filter((one) => !this.#held.isHeld(one.name) && this.#book.acknowledge(one));
    const ofFile = this.#book.newsOfFile((name) => !this.#held.isHeld(name));
    const ended = [
      ...latest.flatMap((one) => this.#followed(one)),
      ...ofFile.flatMap((name) => this.#followedOfFile(name)),
    ];
    await Promise.all(ended.map((server) => this.#end(server)));
  }

  /** Connects the servers that asked for a person, if the person came back to another node. */
  async followAuthorizations(): Promise<void> {
    const names = (await this.#deps.authorizations?.authorizedElsewhere()) ?? [];
    await Promise.all(names.map((name) => this.#connectAgain(name)));
  }

  async connect(name: string, config: McpServerConfig, origin: Origin): Promise<McpServerRecord> {
    const known = this.servers.find(name);
    // A server that has never connected is replaced: its configuration serves nobody.
    if (known && known.status !== 'disconnected' && !known.hasOnlyFailed) {
      throw new ServiceError('INVALID_REQUEST', `An MCP server named ${name} exists already.`, {
        field: 'name',
        issue: `the name is in use by a server whose status is ${known.status}`,
        suggestion: 'Choose another name, or disconnect that server first with DELETE /api/mcp/servers/{id}.',
      });
    }
    const wasAtRunTime = this.#atRunTime.has(name);
    const wasTried = known?.status !== 'disconnected';
    this.#atRunTime.add(name);
    const server = this.servers.add(name, config);
    return this.#remembered(server, origin, async () => {
      await server.disconnect();
      if (this.servers.find(name) !== server) return;
      this.servers.forget(server);
      if (!wasAtRunTime) this.#atRunTime.delete(name);
      if (!known) return;
      // The same object would stand for the server that was replaced.
      const config = { ...known.config };
      if (wasTried) this.#begin(name, config);
      else this.servers.add(name, config);
    });
  }

  /** @param seen leaves a server alone that has another status. */
  async reconnect(serverId: string, origin: Origin, seen?: McpServerStatus): Promise<McpServerRecord> {
    const server = this.servers.get(serverId);
    if (seen !== undefined && server.status !== seen) return server.record;
    const { name } = server;
    if (this.#atRunTime.has(name)) return this.#remembered(server, origin);
    await this.#held.during(name, () => this.#book.reconnect(name, origin));
    return this.#attempt(server);
  }

  /**
   * Disconnects a server. Removes a server that is disconnected already, so that the list does not grow for ever.
   * @param seen leaves a server alone that is disconnected and was not then, or the other way round.
   */
  async disconnect(serverId: string, origin: Origin, seen?: McpServerStatus): Promise<McpServerRecord> {
    const server = this.servers.get(serverId);
    const { name } = server;
    const isDisconnected = server.status === 'disconnected';
    if (seen !== undefined && isDisconnected !== (seen === 'disconnected')) return server.record;
    const isInFile = Object.hasOwn(enabledOnly(this.#inFile), name);
    const remove = () => this.#book.remove(name, origin, { isInFile });
    await Promise.all([this.#end(server), this.#held.during(name, remove)]);
    // Not before: a removal that the log refuses can be tried again.
    if (isDisconnected && this.servers.find(name) === server) this.servers.forget(server);
    return server.record;
  }

  /** Takes what an authorization server answers about a tool server, and connects the server. */
  async authorize(response: AuthorizationResponse): Promise<McpServerRecord> {
    const outcome = await this.#deps.authorizations?.finish(response);
    const server = outcome && this.servers.find(outcome.server);
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.servers.end();
  }

  /** Whether a server that was connected at run time has the name. */
  #isTaken(name: string): boolean {
    const server = this.servers.find(name);
    return this.#atRunTime.has(name) && server !== undefined && server.status !== 'disconnected';
  }

  #begin(name: string, config: McpServerConfig): FirstAttempt {
    const server = this.servers.add(name, config);
    const settled = server.connect().then(() => ({ record: server.record, tools: server.tools.length }));
    return { name, settled };
  }

  /**
   * Starts the attempt at once, which reserves the name, and answers when the server is in the log.
   * @param undo reverts the attempt if the log refuses, so that all is as before the request.
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
    const known = this.servers.find(name);
    // The next start would leave it out, too.
    const isEnabled = config !== null && config.disabled !== true;
    if (!isEnabled) return known && this.#atRunTime.has(name) ? [known] : [];
    this.#atRunTime.add(name);
    if (known && known.status !== 'disconnected' && isSameConfig(known.config, config)) return [];
    this.#begin(name, config);
    return [];
  }

  /** @returns the server that was disconnected on another node. It is still connected. */
  #followedOfFile(name: string): McpServer[] {
    const known = this.servers.find(name);
    if (this.#isTaken(name)) return [];
    if (this.#book.isDisconnected(name)) return known ? [known] : [];
    const config = enabledOnly(this.#inFile)[name];
    if (!config || (known && known.status !== 'disconnected')) return [];
    this.#atRunTime.delete(name);
    this.#begin(name, config);
    return [];
  }

  /** The file was changed after somebody had disconnected the server, so the file counts. */
  #connectedByFile(name: string): void {
    if (!this.#book.isDisconnected(name)) return;
    this.#held
      .during(name, () => this.#book.reconnect(name, serviceOrigin()))
      .catch((err: unknown) =>
        this.#deps.log.warn(
          { server: name, err },
          'the log says that a tool server of the agent file is disconnected, and it is not',
        ),
      );
  }

  async #connectAgain(name: string): Promise<void> {
    const server = this.servers.find(name);
    if ((await server?.attempted()) === 'error' && !this.#isClosed) await server?.connect();
  }

  #followSoon(): void {
    this.follow().catch((err: unknown) =>
      this.#deps.log.warn({ err }, 'the tool servers that other nodes have connected could not be read'),
    );
  }

  /** Ends a server that `takeOver` has replaced or removed. */
  async giveUp(server: McpServer): Promise<void> {
    await this.servers.giveUp(server);
    const isGone = !this.servers.hasName(server.name);
    if (isGone && server.config.type === 'http') await this.#deps.authorizations?.forget(server.name);
  }

  async #end(server: McpServer): Promise<void> {
    const { authorizations } = this.#deps;
    await Promise.all([
      server.disconnect(),
      server.config.type === 'http' && authorizations?.forget(server.name),
    ]);
  }

  async #attempt(server: McpServer): Promise<McpServerRecord> {
    const status = await server.connect();
    const { record } = server;
    if (status === 'connected') return record;
    throw new ServiceError('AGENT_ERROR', `The MCP server ${server.name} could not be connected.`, {
      serverId: server.name,
      reason: record.error ?? 'it was disconnected meanwhile',
      ...record.details,
      suggestion: status === 'disconnected' ? HOW_TO_CONNECT : HOW_TO_CORRECT,
    });
  }
}

const HOW_TO_CORRECT =
  'It stays listed and is tried again. Correct it by connecting a server of the same name; DELETE /api/mcp/servers/{id} gives it up.';

/** Somebody wanted it so. */
const HOW_TO_CONNECT =
  'It is not tried again. Connect it with POST /api/mcp/servers/{id}/reconnect, if it is still listed, or with connect-server.';
