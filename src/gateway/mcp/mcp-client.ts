import type { TurnId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { McpEra } from './mcp-call.ts';
import type { Answerers } from './sessions/answerers.ts';

/** Whom a server is for: an MCP session of the older era, or one request of the newer one. */
export interface McpClient {
  readonly era: McpEra;
  readonly context: RequestContext;
  /** Conversation of this client, for calls that name none. */
  readonly ownSessionId?: string | undefined;
  /** The turn that a request begins, where its id is already known to the client. */
  readonly turnOf?: ((requestId: string | number) => TurnId | undefined) | undefined;
  /** Who answers what the client is asked. Absent where all comes over one connection. */
  readonly answerers?: Answerers | undefined;
  /** Whether the server lives as long as its connection, and can tell of changes. */
  readonly isLasting: boolean;
}
