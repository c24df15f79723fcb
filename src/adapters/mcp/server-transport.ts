import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** An MCP transport that knows why it ended. `close` may be called twice and never rejects. */
export interface ServerTransport extends Transport {
  /** For people and without secrets. Set before `onclose` when the connection ended without `close`. */
  readonly endReason: string | undefined;
  /** Called when a stream for notifications was opened beside the connection. What came before, the server told nobody. */
  onstream?: () => void;
  /** Gives the server up for the reason. Does nothing on a transport that has ended. */
  fail(reason: string): void;
  /** The reason, and what the server itself has said about it. */
  explain(reason: string): string;
}
