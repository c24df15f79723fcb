import type { JsonObject } from '../../core/json-object.ts';
import { JsonRpcError } from '../../core/json-rpc.ts';
import type { Tool, ToolOutcome } from '../../core/tool-call/tool.ts';
import { calledTool } from '../../core/tool-server/forwarded-tool-call.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type {
  ForwardedRequest,
  ForwardedRequestOptions,
  ServerEra,
  ToolCallOptions,
  ToolServerConnection,
  ToolServerEvents,
} from '../../ports/tool-server.ts';
import type { ClientRequestOptions, McpClient } from './client/mcp-client.ts';
import { type ServerHello, toldChanges } from './client/server-hello.ts';
import { failureText } from './failure/failure-text.ts';
import { maskedError } from './failure/masked-error.ts';
import type { Mask } from './failure/secret-mask.ts';
import { Heartbeat } from './heartbeat.ts';
import type { ServerTransport } from './server-transport.ts';
import { callResult, toolOutcome } from './tools/call-result.ts';
import { OutputCheck } from './tools/output-check.ts';
import { type ParamHeader, paramHeaderValues } from './tools/param-headers.ts';
import { readToolList, type ToolList } from './tools/tool-list.ts';
import { UnheardChanges } from './tools/unheard-changes.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const CANCELLED = 'the call was cancelled';

export interface McpConnectionDeps {
  /** Of the server, for the log. */
  readonly name: string;
  readonly log: Logger;
  readonly schemas: Pick<SchemaCheck, 'ofResult'>;
  readonly mask: Mask;
  readonly events: ToolServerEvents;
  readonly client: McpClient;
  readonly hello: ServerHello;
  readonly transport: ServerTransport;
  /** Longest wait for an answer, or for progress of a call. */
  readonly timeoutMs: number | undefined;
  /** For transports that do not notice by themselves that the server has gone. */
  readonly pingIntervalMs: number | undefined;
}

/** A server that has answered the handshake. */
export class McpConnection implements ToolServerConnection {
  readonly #deps: McpConnectionDeps;
  readonly #client: McpClient;
  readonly #transport: ServerTransport;
  readonly #timeoutMs: number;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #unheard: UnheardChanges;
  #listed: Pick<ToolList, 'tools' | 'digest'> | undefined;
  #outputCheck: OutputCheck;
  #paramHeaders: ReadonlyMap<string, readonly ParamHeader[]> = new Map();

  constructor(deps: McpConnectionDeps) {
    const { client, transport, events, pingIntervalMs } = deps;
    this.#deps = deps;
    this.#client = client;
    this.#transport = transport;
    this.#timeoutMs = deps.timeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#outputCheck = this.#outputCheckOf(new Map());
    client.onclosed = () => this.#noteEnd();
    client.onerror = (error) => this.#noteError(error);
    this.#unheard = new UnheardChanges(() => events.onToolsChanged());
    if (toldChanges(deps.hello.capabilities).tools) transport.onstream = () => this.#unheard.streamOpened();
    if (pingIntervalMs !== undefined) this.#heartbeat = this.#startHeartbeat(pingIntervalMs);
  }

  get era(): ServerEra {
    return this.#deps.hello.era;
  }

  get capabilities(): JsonObject {
    return this.#deps.hello.capabilities;
  }

  get instructions(): string | undefined {
    return this.#deps.hello.instructions;
  }

  async listTools(signal?: AbortSignal): Promise<readonly Tool[]> {
    if (this.capabilities.tools === undefined) return [];
    this.#unheard.listing();
    try {
      const list = (params: JsonObject) =>
        this.#client.request(
          { method: 'tools/list', params },
          { timeoutMs: this.#timeoutMs, ...(signal && { signal }) },
        );
      const { tools, outputSchemas, paramHeaders, unreadable, digest } = await readToolList(
        list,
        this.#hasHeaders,
      );
      if (this.#listed?.digest === digest) return this.#listed.tools;
      this.#listed = { tools, digest };
      this.#outputCheck = this.#outputCheckOf(outputSchemas);
      this.#paramHeaders = paramHeaders;
      if (unreadable.length > 0) this.#warn({ tools: unreadable }, 'left out tools that could not be read');
      return tools;
    } catch (error) {
      throw new Error(this.#reasonOf(error), { cause: error });
    }
  }

  async callTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    options: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    const request = { method: 'tools/call', params: { name: toolName, arguments: { ...args } } };
    try {
      const answer = await this.#request(request, { ...options, asksForVisits: true });
      return await toolOutcome(toolName, callResult(answer), this.#outputCheck);
    } catch (error) {
      const reason = options.signal?.aborted ? CANCELLED : this.#reasonOf(error);
      return { status: 'failed', reason };
    }
  }

  async request(request: ForwardedRequest, options: ForwardedRequestOptions = {}): Promise<JsonObject> {
    try {
      return await this.#request(request, options);
    } catch (error) {
      if (error instanceof JsonRpcError) throw maskedError(error, this.#deps.mask);
      const reason = options.signal?.aborted ? CANCELLED : this.#reasonOf(error);
      throw new Error(reason, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#heartbeat?.stop();
    await this.#transport.close();
  }

  async #request(
    request: ForwardedRequest,
    options: Omit<ClientRequestOptions, 'headers' | 'timeoutMs'>,
  ): Promise<JsonObject> {
    const headers = this.#headersOf(request);
    return await this.#client.request(request, { ...options, headers, timeoutMs: this.#timeoutMs });
  }

  /** Whether the requests have headers that repeat arguments. */
  get #hasHeaders(): boolean {
    return this.era === 'stateless' && this.#transport.hasRequestStreams === true;
  }

  #headersOf(request: ForwardedRequest): Readonly<Record<string, string>> {
    const toolName = calledTool(request);
    const headers = toolName === undefined ? undefined : this.#paramHeaders.get(toolName);
    return headers === undefined ? {} : paramHeaderValues(headers, request.params.arguments);
  }

  #reasonOf(error: unknown): string {
    if (this.#transport.endReason !== undefined)
      return `the connection was lost: ${this.#transport.endReason}`;
    return failureText(error, this.#deps.mask);
  }

  #outputCheckOf(schemas: ReadonlyMap<string, Readonly<Record<string, unknown>>>): OutputCheck {
    return new OutputCheck(schemas, {
      schemas: this.#deps.schemas,
      onUnusable: (tool, reason) => this.#warn({ tool, reason }, 'output schema cannot be used'),
    });
  }

  #startHeartbeat(intervalMs: number): Heartbeat {
    return new Heartbeat({
      intervalMs,
      ping: () => {
        this.#unheard.beat();
        return this.#client.request({ method: this.#pingMethod, params: {} }, { timeoutMs: intervalMs });
      },
      isBusy: () => this.#client.isBusy,
      onDead: (error) => this.#transport.fail(failureText(error, this.#deps.mask)),
    });
  }

  /** Stateless servers know no ping. */
  get #pingMethod(): string {
    return this.era === 'stateless' ? 'server/discover' : 'ping';
  }

  #noteEnd(): void {
    this.#heartbeat?.stop();
    const reason = this.#transport.endReason;
    // Without a reason, `close` ended the connection.
    if (reason !== undefined) this.#deps.events.onClosed(reason);
  }

  #noteError(error: Error): void {
    const reason = failureText(error, this.#deps.mask);
    const { log, name } = this.#deps;
    log.debug({ server: name, reason }, 'tool server connection reported an error');
    this.#heartbeat?.suspect();
  }

  #warn(fields: Record<string, unknown>, message: string): void {
    this.#deps.log.warn({ server: this.#deps.name, ...fields }, message);
  }
}
