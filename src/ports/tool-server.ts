import type { CallId, TurnId } from '../core/ids.ts';
import type { JsonObject } from '../core/json-object.ts';
import type { Tool, ToolOutcome } from '../core/tool-call/tool.ts';
import type { ToolProgress } from '../core/tool-call/tool-progress.ts';
import type { McpServerConfig } from '../core/tool-server/mcp-server-config.ts';
import type { ServerNote } from '../core/tool-server/server-log.ts';
import type { AnswerQuestion } from '../core/tool-server/server-question.ts';
import type { TraceContext } from '../core/trace.ts';

export interface ToolCallOptions {
  /** Aborting tells the server to stop and settles the call as failed. */
  readonly signal?: AbortSignal;
  /** The turn and the tool call of the model. Never sent to the server. */
  readonly origin?: { readonly turnId: TurnId; readonly callId: CallId };
  /** Trace context, sent to the server. */
  readonly trace?: TraceContext;
  readonly onProgress?: (progress: ToolProgress) => void;
  /** Answers what the server asks of its client while it works on the call. Without it, the server is refused. */
  readonly onQuestion?: AnswerQuestion;
}

/** A request or a notification of MCP that is passed on as it is. */
export interface ForwardedRequest {
  /** Such as `resources/read` or `tools/call`. */
  readonly method: string;
  readonly params: JsonObject;
}

export interface ForwardedRequestOptions extends Omit<ToolCallOptions, 'origin'> {
  /** A log message of the server that belongs to the request: the parameters of `notifications/message`. */
  readonly onLog?: (params: JsonObject) => void;
  /** What the client can answer, as MCP's `ClientCapabilities`. A server of 2026-07-28 is told so with the request. */
  readonly capabilities?: JsonObject;
  /**
   * A result that asks for input (`resultType: 'input_required'`) is returned as it came, and the caller repeats the
   * request with the answers. Otherwise `onQuestion` answers, and the connection repeats the request.
   */
  readonly passesInput?: boolean;
}

/** The revision of MCP that the connection speaks. `stateless` is 2026-07-28 and later. */
export type ServerEra = 'sessions' | 'stateless';

/** A live connection to one tool server. */
export interface ToolServerConnection {
  /**
   * All tools, from all pages. Rejects if the server gives no valid answer, and at once if the signal aborts. The list is
   * the same object as before if the server has said the same as before, also of what is not in it.
   */
  listTools(signal?: AbortSignal): Promise<readonly Tool[]>;
  /**
   * Never rejects: a crash, a time-out and an error of the tool all settle as `failed`. Never retries, except when the server
   * has not begun because a person must open an address first, and `onQuestion` says that somebody did.
   */
  callTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    options?: ToolCallOptions,
  ): Promise<ToolOutcome>;
  readonly era: ServerEra;
  /** What the server offers, as MCP's `ServerCapabilities`. */
  readonly capabilities: JsonObject;
  /** The server's advice to models on how to use it. */
  readonly instructions: string | undefined;
  /**
   * Makes a request of MCP and resolves with the result as it came, unknown fields included. Rejects with a
   * `JsonRpcError` if the server answers with an error, and with another Error if it does not answer. Never retries.
   */
  request(request: ForwardedRequest, options?: ForwardedRequestOptions): Promise<JsonObject>;
  /** Ends the connection, and for stdio the server's whole process group. May be called twice. */
  close(): Promise<void>;
}

export interface ToolServerEvents {
  /** The connection ended without `close` being called. At most once; `reason` is for people. */
  onClosed(reason: string): void;
  onToolsChanged(): void;
  /** A notification of the server that concerns clients, as it came: of resources, prompts and completed elicitations. */
  onNotification?(notification: ForwardedRequest): void;
  /** The server said something, also while it starts and while it ends. */
  onNote(note: ServerNote): void;
}

/** Opens connections to tool servers. */
export interface ToolServerConnector {
  /**
   * Resolves after the handshake. Rejects if the server cannot be started or reached within its time-out, or
   * if `signal` aborts; then no process is left behind. The message of the Error is for people and contains
   * no secrets.
   */
  connect(
    name: string,
    config: McpServerConfig,
    events: ToolServerEvents,
    signal: AbortSignal,
  ): Promise<ToolServerConnection>;
}
