import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  ErrorCode,
  McpError,
  type Progress,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Tool, ToolOutcome } from '../../core/tool-call/tool.ts';
import type { ToolProgress } from '../../core/tool-call/tool-progress.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ToolCallOptions, ToolServerConnection, ToolServerEvents } from '../../ports/tool-server.ts';
import { failureText, shorten } from './failure/failure-text.ts';
import type { Mask } from './failure/secret-mask.ts';
import { Heartbeat } from './heartbeat.ts';
import { tellNotes } from './server-notes.ts';
import type { ServerTransport } from './server-transport.ts';
import { CallResult, toolOutcome } from './tools/call-result.ts';
import { OutputCheck } from './tools/output-check.ts';
import { readToolList } from './tools/tool-list.ts';
import { UnheardChanges } from './tools/unheard-changes.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const PROGRESS_CHARACTERS = 500;

export interface McpConnectionDeps {
  /** Of the server, for the log. */
  readonly name: string;
  readonly log: Logger;
  readonly mask: Mask;
  readonly events: ToolServerEvents;
  readonly client: Client;
  readonly transport: ServerTransport;
  /** Longest wait for an answer, or for progress of a call. */
  readonly timeoutMs: number | undefined;
  /** For transports that do not notice by themselves that the server has gone. */
  readonly pingIntervalMs: number | undefined;
}

/** A server that has answered the handshake. */
export class McpConnection implements ToolServerConnection {
  readonly #deps: McpConnectionDeps;
  readonly #client: Client;
  readonly #transport: ServerTransport;
  readonly #timeoutMs: number;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #unheard: UnheardChanges;
  #outputCheck: OutputCheck;
  #callsInFlight = 0;

  constructor(deps: McpConnectionDeps) {
    const { client, transport, events, pingIntervalMs } = deps;
    this.#deps = deps;
    this.#client = client;
    this.#transport = transport;
    this.#timeoutMs = deps.timeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#outputCheck = this.#outputCheckOf(new Map());
    client.onclose = () => this.#noteEnd();
    client.onerror = (error) => this.#noteError(error);
    const tellChange = () => events.onToolsChanged();
    client.setNotificationHandler(ToolListChangedNotificationSchema, tellChange);
    tellNotes(client, deps.mask, (note) => events.onNote(note));
    this.#unheard = new UnheardChanges(tellChange);
    if (client.getServerCapabilities()?.tools?.listChanged)
      transport.onstream = () => this.#unheard.streamOpened();
    if (pingIntervalMs !== undefined) this.#heartbeat = this.#startHeartbeat(pingIntervalMs);
  }

  async listTools(): Promise<Tool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    this.#unheard.listing();
    try {
      const { tools, outputSchemas, unreadable } = await readToolList(this.#client, this.#timeoutMs);
      this.#outputCheck = this.#outputCheckOf(outputSchemas);
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
    // The SDK never removes its listener and would cancel a call that has ended, so each call has its own signal.
    const { signal } = options;
    const call = new AbortController();
    const cancel = () => call.abort('the call was cancelled');
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    this.#callsInFlight += 1;
    try {
      const answer = await this.#request(toolName, args, { ...options, signal: call.signal });
      return await toolOutcome(toolName, answer, this.#outputCheck);
    } catch (error) {
      const reason = call.signal.aborted ? 'the call was cancelled' : this.#reasonOf(error);
      return { status: 'failed', reason };
    } finally {
      this.#callsInFlight -= 1;
      signal?.removeEventListener('abort', cancel);
    }
  }

  async close(): Promise<void> {
    this.#heartbeat?.stop();
    await this.#transport.close();
  }

  #request(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    { signal, trace, onProgress }: ToolCallOptions,
  ): Promise<CallResult> {
    const params = { name: toolName, arguments: { ...args }, ...(trace && { _meta: { ...trace } }) };
    return this.#client.request({ method: 'tools/call', params }, CallResult, {
      ...(signal && { signal }),
      timeout: this.#timeoutMs,
      // The SDK resets the time-out only if there is a listener for progress.
      resetTimeoutOnProgress: true,
      onprogress: (progress) => onProgress?.(this.#shown(progress)),
    });
  }

  #shown({ progress, total, message }: Progress): ToolProgress {
    return {
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message: shorten(this.#deps.mask(message), PROGRESS_CHARACTERS) }),
    };
  }

  #reasonOf(error: unknown): string {
    if (this.#transport.endReason !== undefined)
      return `the connection was lost: ${this.#transport.endReason}`;
    if (error instanceof McpError && isTimeout(error))
      return `the server did not answer within ${this.#timeoutMs} ms`;
    return failureText(error, this.#deps.mask);
  }

  #outputCheckOf(schemas: ReadonlyMap<string, Readonly<Record<string, unknown>>>): OutputCheck {
    return new OutputCheck(schemas, (tool, err) => this.#warn({ tool, err }, 'output schema cannot be used'));
  }

  #startHeartbeat(intervalMs: number): Heartbeat {
    return new Heartbeat({
      intervalMs,
      ping: () => {
        this.#unheard.beat();
        return this.#client.ping({ timeout: intervalMs });
      },
      isBusy: () => this.#callsInFlight > 0,
      onDead: (error) => this.#transport.fail(failureText(error, this.#deps.mask)),
    });
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

/** Whether the SDK's own time-out is up. A server may use the same code, but with other data. */
function isTimeout(error: McpError): boolean {
  const { code, data } = error;
  return code === ErrorCode.RequestTimeout && typeof data === 'object' && data !== null && 'timeout' in data;
}
