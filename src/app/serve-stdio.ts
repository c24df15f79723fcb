import { ANYONE } from '../core/request/request-context.ts';
import { encodedBytes, type MaxBytes } from '../core/size-limits.ts';
import type { Logger } from '../ports/logger.ts';
import type { Agent } from './agent.ts';

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
  const [sdk, { mcpServer }, { servedSurface }, { watchListening }, { MessageLines }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../gateway/mcp/mcp-server.ts'),
    import('../gateway/mcp/served-surface.ts'),
    import('../gateway/mcp/stateless/watched-listening.ts'),
    import('../gateway/mcp/message-lines.ts'),
  ]);
  const maxBufferSize = maxRequestBytes === false ? Number.MAX_SAFE_INTEGER : encodedBytes(maxRequestBytes);
  const card = () => ({ ...agent.identity, version, model: agent.modelLabel });
  const { exposes, secrets } = agent;
  const deps = { bus, card, exposes, secrets, maxRequestBytes, log };
  const surface = servedSurface(deps);
  const ownSessionId = `mcp-${crypto.randomUUID()}`;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  process.stdin.once('end', resolve);
  process.stdin.once('close', resolve);
  // A client that exits during an answer causes an error here. Without a listener the error would end this process.
  process.stdout.on('error', () => resolve());
  // The SDK gives up the calls that run when its input ends. What was asked before is answered all the same.
  const input = process.stdin.pipe(new MessageLines({ output: process.stdout, maxBytes: maxBufferSize }), {
    end: false,
  });
  const transport = new sdk.StdioServerTransport(input, process.stdout, { maxBufferSize });
  const close = transport.close.bind(transport);
  // The SDK closes the connection of a client that sends too much without a newline.
  transport.close = () => close().finally(resolve);
  sdk.serveStdio(
    ({ era }) =>
      mcpServer(
        { ...deps, surface },
        { era, context: ANYONE, isLasting: true, ...(era === 'legacy' && { ownSessionId }) },
      ),
    { transport, onerror: (err) => log.debug({ err }, 'an MCP message could not be handled') },
  );
  watchListening(transport, { surface, context: ANYONE, log });
  return { gone };
}
