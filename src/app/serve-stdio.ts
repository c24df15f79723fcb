import { ANYONE } from '../core/request/request-context.ts';
import { encodedBytes, type MaxBytes } from '../core/size-limits.ts';
import type { Logger } from '../ports/logger.ts';
import type { Agent } from './compose.ts';

export interface StdioOptions {
  readonly version: string;
  readonly maxRequestBytes: MaxBytes;
}

/** Speaks MCP on stdin and stdout, for desktop clients. `gone` resolves when the client has disconnected. */
export async function serveStdio(
  agent: Agent,
  { version, maxRequestBytes }: StdioOptions,
  log: Logger,
): Promise<{ gone: Promise<void> }> {
  const { bus, authorizations } = agent;
  authorizations?.returnTo(null);
  const [{ StdioServerTransport }, { mcpAgent }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('../gateway/mcp/mcp-agent.ts'),
  ]);
  const maxBufferSize = maxRequestBytes === false ? Number.MAX_SAFE_INTEGER : encodedBytes(maxRequestBytes);
  const card = () => ({ ...agent.identity, version, model: agent.modelLabel });
  const server = mcpAgent(
    { bus, card, maxRequestBytes, log },
    { ownSessionId: `mcp-${crypto.randomUUID()}`, context: ANYONE },
  );
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  process.stdin.once('end', resolve);
  process.stdin.once('close', resolve);
  // A client that exits during an answer causes an error here. Without a listener the error would end this process.
  process.stdout.on('error', () => resolve());
  // The SDK closes the connection of a client that sends too much without a newline.
  server.server.onclose = resolve;
  await server.connect(new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize }));
  return { gone };
}
