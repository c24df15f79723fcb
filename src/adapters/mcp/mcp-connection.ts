import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Tool, ToolOutcome } from '../../core/tool-call/tool.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { ToolCallOptions, ToolServerConnection } from '../../ports/tool-server.ts';
import type { Attempt } from './attempt.ts';
import { failureText } from './failure/failure-text.ts';
import { Heartbeat } from './heartbeat.ts';
import type { ServerTransport } from './server-transport.ts';
import { CallResult, toolError, toolResultOf } from './tools/call-result.ts';
import { OutputCheck } from './tools/output-check.ts';
import { readToolList } from './tools/tool-list.ts';
import { UnheardChanges } from './tools/unheard-changes.ts';

const CALL_TIMEOUT_MS = 60_000;

/** A server that has answered the handshake. */
export class McpConnection implements ToolServerConnection {
  readonly #attempt: Attempt;
  readonly #client: Client;
  readonly #transport: ServerTransport;
  readonly #timeoutMs: number;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #unheard: UnheardChanges;
  #outputCheck: OutputCheck;
  #callsInFlight = 0;

  /** @param pingIntervalMs for transports that do not notice by themselves that the server has gone. */
  constructor(attempt: Attempt, client: Client, transport: ServerTransport, pingIntervalMs?: number) {
    this.#attempt = attempt;
    this.#client = client;
    this.#transport = transport;
    this.#timeoutMs = attempt.config.timeout ?? CALL_TIMEOUT_MS;
    this.#outputCheck = this.#outputCheckOf(new Map());
    client.onclose = () => this.#noteEnd();
    client.onerror = (error) => this.#noteError(error);
    const tellChange = () => attempt.events.onToolsChanged();
    client.setNotificationHandler(ToolListChangedNotificationSchema, tellChange);
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
    { signal, trace }: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    // A signal of this call alone: the SDK listens on for ever, and would cancel a call that has ended.
    const call = new AbortController();
    const cancel = () => call.abort('the call was cancelled');
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    this.#callsInFlight += 1;
    try {
      return await this.#settle(toolName, await this.#request(toolName, args, call.signal, trace));
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
    signal: AbortSignal,
    trace: TraceContext | undefined,
  ): Promise<CallResult> {
    const params = { name: toolName, arguments: { ...args }, ...(trace && { _meta: { ...trace } }) };
    return this.#client.request({ method: 'tools/call', params }, CallResult, {
      signal,
      timeout: this.#timeoutMs,
      // Works only while somebody listens to the progress.
      resetTimeoutOnProgress: true,
      onprogress: () => undefined,
    });
  }

  async #settle(toolName: string, answer: CallResult): Promise<ToolOutcome> {
    const result = toolResultOf(answer);
    if (answer.isError) return toolError(result);
    const problem = await this.#outputCheck.problem(toolName, result);
    if (problem !== undefined) return { status: 'failed', reason: problem, result };
    return { status: 'succeeded', result };
  }

  #reasonOf(error: unknown): string {
    if (this.#transport.endReason !== undefined)
      return `the connection was lost: ${this.#transport.endReason}`;
    if (error instanceof McpError && isTimeout(error))
      return `the server did not answer within ${this.#timeoutMs} ms`;
    return failureText(error, this.#attempt.mask);
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
      onDead: (error) => this.#transport.fail(failureText(error, this.#attempt.mask)),
    });
  }

  #noteEnd(): void {
    this.#heartbeat?.stop();
    const reason = this.#transport.endReason;
    // Without a reason it was `close` that ended it.
    if (reason !== undefined) this.#attempt.events.onClosed(reason);
  }

  #noteError(error: Error): void {
    const reason = failureText(error, this.#attempt.mask);
    this.#attempt.log.debug(
      { server: this.#attempt.name, reason },
      'tool server connection reported an error',
    );
    this.#heartbeat?.suspect();
  }

  #warn(fields: Record<string, unknown>, message: string): void {
    this.#attempt.log.warn({ server: this.#attempt.name, ...fields }, message);
  }
}

/** The SDK's own time-out. A server may use the same code, but with other data. */
function isTimeout(error: McpError): boolean {
  const { code, data } = error;
  return code === ErrorCode.RequestTimeout && typeof data === 'object' && data !== null && 'timeout' in data;
}
