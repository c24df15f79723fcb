import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { Log } from '../../ports/log.ts';
import type { ToolServerEvents } from '../../ports/tool-server.ts';
import type { Mask } from './failure/secret-mask.ts';

/** Everything one attempt to connect needs to know. */
export interface ConnectRequest {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly events: ToolServerEvents;
  readonly signal: AbortSignal;
}

/** One attempt to connect, with what all its parts share. */
export interface Attempt extends ConnectRequest {
  readonly log: Log;
  readonly mask: Mask;
  readonly clientVersion: string;
  /** Longest wait for the handshake. */
  readonly timeoutMs: number;
}
