import type { Log } from '../../ports/log.ts';
import type { ConnectRequest } from './mcp-connector.ts';
import type { Mask } from './secret-mask.ts';

/** One attempt to connect, with what all its parts share. */
export interface Attempt extends ConnectRequest {
  readonly log: Log;
  readonly mask: Mask;
  readonly clientVersion: string;
  /** Longest wait for the handshake. */
  readonly timeoutMs: number;
}
