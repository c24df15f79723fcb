import { createActor, fromCallback, waitFor } from 'xstate';
import { type McpServerEvent, mcpServerMachine } from '../../../machines/mcp-server.machine.ts';
import { messageOf } from '../../core/thrown.ts';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { McpServerRecord, McpServerStatus } from '../../core/tool-server/mcp-server-record.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ServerAuthorizations } from '../../ports/server-authorization.ts';
import type { ToolServerConnection, ToolServerConnector, ToolServerEvents } from '../../ports/tool-server.ts';
import type { Clock } from '../../timing/clock.ts';
import type { LiveMachines } from '../machines/live-machines.ts';
import { offerChangeOf } from './offer-change-of.ts';
import { ServerLog } from './server-log.ts';
import { ToolRefresh } from './tool-refresh.ts';

export interface McpServerDeps {
  readonly connector: ToolServerConnector;
  /** Left out when the connector knows no OAuth. */
  readonly authorizations?: ServerAuthorizations | undefined;
  readonly log: Logger;
  readonly machines: LiveMachines;
  /** Delay before the next attempt to connect or to list the tools, in milliseconds, given the failures in a row. */
  readonly retryDelayMs: (failures: number) => number;
  readonly onToolsChanged: () => void;
  /** What the server said of its prompts and resources. */
  readonly onOfferChange: (change: OfferChange | null) => void;
  /** Called after each transition of the server's machine. */
  readonly onTransition: (status: McpServerStatus) => void;
  readonly clock?: Clock;
}

type SendBack = (event: McpServerEvent) => void;
type StopEffect = () => void;

/** One tool server: its machine, and the connection that the machine opens, holds and closes. */
export class McpServer {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #deps: McpServerDeps;
  readonly actor;
  /** What the server said, over all its connections. */
  readonly log = new ServerLog();
  #connection: ToolServerConnection | null = null;
  #hasConnected = false;
  #tools: readonly Tool[] = [];
  /** Aborted when the current connection ends. Events of earlier connections are ignored. */
  #life = new AbortController();
  #closing: Promise<void> = Promise.resolve();
  /** Null while the tools are not known for the first time. */
  #refresh: ToolRefresh | null = null;
  /** The tools changed while they were listed for the first time, so they must be listed again. */
  #changedEarly = false;

  constructor(name: string, config: McpServerConfig, deps: McpServerDeps) {
    this.name = name;
    this.config = config;
    this.#deps = deps;
    const machine = mcpServerMachine.provide({
      actors: {
        open: fromCallback(({ sendBack }) => this.#open(sendBack)),
        hold: fromCallback(() => this.#hold()),
      },
      delays: { retryDelay: ({ context }) => deps.retryDelayMs(context.failures) },
    });
    this.actor = createActor(machine, { input: { name }, id: `mcp-server:${name}`, ...clockOf(deps) });
    this.actor.subscribe(({ value, context }) => {
      deps.log.debug({ server: name, status: value, tools: context.toolCount }, 'tool server status');
      deps.onTransition(value);
    });
    deps.machines.add(this);
    this.actor.start();
  }

  get status(): McpServerStatus {
    return this.actor.getSnapshot().value;
  }

  get record(): McpServerRecord {
    const { value: status, context } = this.actor.getSnapshot();
    const { type, description } = this.config;
    const authorizationUrl = this.#deps.authorizations?.urlOf(this.name);
    return {
      id: this.name,
      name: this.name,
      status,
      type,
      ...(description !== undefined && { description }),
      ...(status === 'error' && { error: context.error ?? 'unknown reason' }),
      ...(authorizationUrl !== undefined && { details: { authorizationUrl } }),
    };
  }

  /** Whether every attempt so far has failed. */
  get hasOnlyFailed(): boolean {
    return !this.#hasConnected && this.actor.getSnapshot().context.failures > 0;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** The connection while the server is connected. */
  get connection(): ToolServerConnection | null {
    return this.#connection;
  }

  /** Connects, or reconnects. Resolves when the attempt has succeeded or failed. */
  connect(): Promise<McpServerStatus> {
    this.actor.send({ type: 'CONNECT' });
    return this.attempted();
  }

  /** Resolves when the attempt that runs, if any, has succeeded or failed. */
  async attempted(): Promise<McpServerStatus> {
    return (await waitFor(this.actor, ({ value }) => value !== 'connecting')).value;
  }

  /** Resolves when the connection is closed and its process has exited. */
  async disconnect(): Promise<void> {
    // Whoever watches is told of every event, also of one that changes nothing.
    if (this.status !== 'disconnected') this.actor.send({ type: 'DISCONNECT' });
    await this.#closing;
  }

  /** From now on, nobody watches it. Call once. */
  forget(): void {
    this.#deps.machines.remove(this);
  }

  #open(sendBack: SendBack): StopEffect {
    const life = new AbortController();
    this.#life = life;
    this.#refresh = null;
    this.#changedEarly = false;
    const attempt = this.#connect(life.signal, sendBack).catch((error: unknown) => {
      if (life.signal.aborted) return;
      const reason = messageOf(error);
      this.#deps.log.warn({ server: this.name, reason }, 'tool server could not be connected');
      sendBack({ type: 'FAILED', reason });
    });
    return () => {
      if (this.#connection) return;
      life.abort();
      this.#closing = attempt;
    };
  }

  /** Leaves no connection behind and rejects if the signal aborts before `OPENED` is sent. */
  async #connect(signal: AbortSignal, sendBack: SendBack): Promise<void> {
    await this.#closing;
    const connection = await this.#deps.connector.connect(
      this.name,
      this.config,
      this.#events(signal),
      signal,
    );
    try {
      const tools = await connection.listTools(signal);
      signal.throwIfAborted();
      // No `await` from here on: nobody would close the connection if the signal aborted in between.
      this.#setTools(tools);
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#hasConnected = true;
    sendBack({ type: 'OPENED', toolCount: this.#tools.length });
    const refresh = new ToolRefresh({
      refresh: () => this.#refreshTools(connection, signal),
      retryDelayMs: this.#deps.retryDelayMs,
      signal,
      ...clockOf(this.#deps),
    });
    this.#refresh = refresh;
    if (this.#changedEarly) refresh.request();
  }

  #events(signal: AbortSignal): ToolServerEvents {
    return {
      onClosed: (reason) => {
        if (signal.aborted) return;
        this.#deps.log.warn({ server: this.name, reason }, 'tool server is gone');
        this.actor.send({ type: 'CLOSED', reason });
      },
      onToolsChanged: () => {
        if (signal.aborted) return;
        if (this.#refresh) this.#refresh.request();
        else this.#changedEarly = true;
      },
      onNotification: (notification) => {
        if (!signal.aborted) this.#deps.onOfferChange(offerChangeOf(this.name, notification));
      },
      // What a server says while it ends belongs to its log, too.
      onNote: (note) => this.log.add(note),
    };
  }

  /** The connection is open already. Leaving the state closes it. */
  #hold(): StopEffect {
    return () => {
      const connection = this.#connection;
      this.#life.abort();
      this.#connection = null;
      this.#setTools([]);
      this.#closing = Promise.resolve(connection?.close()).catch((error: unknown) => {
        this.#deps.log.warn(
          { server: this.name, reason: messageOf(error) },
          'tool server did not close cleanly',
        );
      });
    };
  }

  /** Whether the tools are known now. */
  async #refreshTools(connection: ToolServerConnection, signal: AbortSignal): Promise<boolean> {
    try {
      const tools = await connection.listTools(signal);
      if (signal.aborted || tools === this.#tools) return true;
      this.#setTools(tools);
      this.actor.send({ type: 'TOOLS_CHANGED', toolCount: tools.length });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#deps.log.warn(
        { server: this.name, reason: messageOf(error) },
        'the changed tools could not be listed',
      );
      return false;
    }
  }

  #setTools(tools: readonly Tool[]): void {
    this.#tools = tools;
    this.#deps.onToolsChanged();
  }
}

function clockOf({ clock }: McpServerDeps): { readonly clock?: Clock } {
  return clock ? { clock } : {};
}
