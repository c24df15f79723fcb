import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** An MCP transport that knows why it ended. `close` may be called twice and never rejects. */
export interface ServerTransport extends Transport {
  /** For people and without secrets. Set before `onclose` when the connection ended without `close`. */
  readonly endReason: string | undefined;
  /** Called when a new stream for notifications is open. The server sent nothing of what happened before. */
  onstream?: () => void;
  /** Ends the connection for this reason. Does nothing on a transport that has ended. */
  fail(reason: string): void;
  /** The reason, followed by what the server itself wrote about it. */
  explain(reason: string): string;
}
