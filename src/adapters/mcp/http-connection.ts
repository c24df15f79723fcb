import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { z } from 'zod';
import type { HttpServerConfig } from '../../contract/agent-config.ts';
import type { Attempt } from './attempt.ts';
import { fetchInTrace } from './fetch-in-trace.ts';
import { HandshakeError, handshake } from './handshake.ts';
import { httpEndpoint } from './http-endpoint.ts';
import { HttpTransport } from './http-transport.ts';
import type { McpConnection } from './mcp-connection.ts';

const PING_INTERVAL_MS = 15_000;
/** What a server from before Streamable HTTP answers to its first message. */
const OLD_SERVER_STATUSES = [400, 404, 405];

/** Connects over Streamable HTTP, or over the older HTTP with SSE when the server knows only that. */
export async function openHttp(
  attempt: Attempt,
  config: z.infer<typeof HttpServerConfig>,
  pingIntervalMs = PING_INTERVAL_MS,
): Promise<McpConnection> {
  const { url, headers } = httpEndpoint(config);
  const options = { requestInit: { headers }, fetch: fetchInTrace };
  const startedAt = performance.now();
  const open = async (inner: StreamableHTTPClientTransport | SSEClientTransport) => {
    const transport = new HttpTransport(inner, attempt.mask);
    const remainingMs = Math.max(1, Math.ceil(attempt.timeoutMs - (performance.now() - startedAt)));
    return await handshake(attempt, transport, remainingMs, pingIntervalMs);
  };
  try {
    return await open(new StreamableHTTPClientTransport(url, options));
  } catch (error) {
    if (!isOldServer(error)) throw error;
    try {
      return await open(new SSEClientTransport(url, options));
    } catch (sseError) {
      attempt.log.debug({ server: attempt.name, err: sseError }, 'the older MCP transport failed too');
      // What the server said to the current protocol tells more than that it has no stream.
      throw attempt.signal.aborted ? sseError : error;
    }
  }
}

function isOldServer(error: unknown): boolean {
  if (!(error instanceof HandshakeError) || !(error.cause instanceof StreamableHTTPError)) return false;
  return error.cause.code !== undefined && OLD_SERVER_STATUSES.includes(error.cause.code);
}
