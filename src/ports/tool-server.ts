import type { CallId, TurnId } from '../core/ids.ts';
import type { Tool, ToolOutcome } from '../core/tool-call/tool.ts';
import type { McpServerConfig } from '../core/tool-server/mcp-server-config.ts';
import type { TraceContext } from '../core/trace.ts';

export interface ToolCallOptions {
  /** Aborting tells the server to stop and settles the call as failed. */
  readonly signal?: AbortSignal;
  /** What the call is made for. Never sent to the server. */
  readonly origin?: { readonly turnId: TurnId; readonly callId: CallId };
  /** The trace that the call is part of, told to the server. */
  readonly trace?: TraceContext;
}

/** A live connection to one tool server. */
export interface ToolServerConnection {
  /** All tools, every page followed. Rejects when the server does not answer properly. */
  listTools(): Promise<Tool[]>;
  /** Never rejects: a crash, a time-out and the tool's own error all settle as `failed`. Never repeats a call. */
  callTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    options?: ToolCallOptions,
  ): Promise<ToolOutcome>;
  /** Ends the connection, and for stdio the server's whole process group. May be called twice. */
  close(): Promise<void>;
}

export interface ToolServerEvents {
  /** The connection ended without `close` being called. At most once; `reason` is for people. */
  onClosed(reason: string): void;
  onToolsChanged(): void;
}

/** Opens connections to tool servers. */
export interface ToolServerConnector {
  /**
   * Resolves when the server has answered the handshake. Rejects with an Error whose message is fit for
   * people (no secrets) when it cannot be started or reached, within the server's time-out, or when
   * `signal` aborts; nothing it started is left behind then.
   */
  connect(
    name: string,
    config: McpServerConfig,
    events: ToolServerEvents,
    signal: AbortSignal,
  ): Promise<ToolServerConnection>;
}
