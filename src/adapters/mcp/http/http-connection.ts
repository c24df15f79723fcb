import { SSEClientTransport, type SSEClientTransportOptions } from '@modelcontextprotocol/sdk/client/sse.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { z } from 'zod';
import type { HttpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { Attempt } from '../attempt.ts';
import { HandshakeError, handshake } from '../handshake.ts';
import type { McpConnection } from '../mcp-connection.ts';
import { fetchNotingStreams } from './fetch-noting-streams.ts';
import { httpEndpoint } from './http-endpoint.ts';
import { HttpTransport, type SdkHttpTransport } from './http-transport.ts';

const PING_INTERVAL_MS = 15_000;
/** What a server from before Streamable HTTP answers to its first message. */
const OLD_SERVER_STATUSES = [400, 404, 405];

type SdkTransportClass = new (
  url: URL,
  options: StreamableHTTPClientTransportOptions & SSEClientTransportOptions,
) => SdkHttpTransport;

/** Connects over Streamable HTTP, or over the older HTTP with SSE when the server knows only that. */
export async function openHttp(
  attempt: Attempt,
  config: z.infer<typeof HttpServerConfig>,
  pingIntervalMs = PING_INTERVAL_MS,
): Promise<McpConnection> {
  const { url, headers } = httpEndpoint(config);
  const startedAt = performance.now();
  const open = async (Inner: SdkTransportClass) => {
    const fetch = fetchNotingStreams(() => transport.onstream?.());
    const transport: HttpTransport = new HttpTransport(
      new Inner(url, { requestInit: { headers }, fetch }),
      attempt.mask,
    );
    const remainingMs = Math.max(1, Math.ceil(attempt.timeoutMs - (performance.now() - startedAt)));
    return await handshake(attempt, transport, remainingMs, pingIntervalMs);
  };
  try {
    return await open(StreamableHTTPClientTransport);
  } catch (error) {
    if (!isOldServer(error)) throw error;
    try {
      return await open(SSEClientTransport);
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
